"""The life of a job, one scenario a test: checks the plans, and that a stable job causes no writes."""

from __future__ import annotations

from dataclasses import replace

import pytest

from trainwright_operator.decide.context import Context
from trainwright_operator.decide.plan import SITUATIONS
from trainwright_operator.model.observed import Node

from ..elastic_cluster import node, started
from ..simulation import SPEC, Cluster
from .scenario import RAY, pod, running


def test_a_job_completes_however_long_its_location_is() -> None:
    cluster = running(output="s3://bucket/" + "r" * 4084)
    cluster.ends()
    cluster.settle()
    assert cluster.status.phase == "Complete"
    assert cluster.status.model == f"{cluster.status.output}/model"


def test_a_job_runs_and_completes() -> None:
    cluster = running()
    assert (cluster.status.phase, cluster.condition("Running")) == ("Running", ("True", "Running"))
    cluster.posts("done", test_scores={"roc_auc": 0.748}, model="s3://runs/default/flights-1c9e2f7a/model")
    cluster.ends()
    cluster.settle()
    assert cluster.status.phase == "Complete"
    assert cluster.condition("Complete") == ("True", "Done")
    assert cluster.condition("Reconciling") == ("False", "Done")
    assert cluster.status.message == "test roc_auc 0.748; model s3://runs/default/flights-1c9e2f7a/model"
    assert cluster.status.test_scores == {"roc_auc": 0.748}
    reasons = [event.reason for event in cluster.events]
    assert reasons == ["Accepted", "Started", "Complete"]


@pytest.mark.parametrize("stage", ["named", "created", "running", "failed", "suspended", "finished"])
def test_a_stable_job_is_left_alone(stage: str) -> None:
    cluster = Cluster(spec={**SPEC, "suspend": stage == "suspended"})
    cluster.settle()
    if stage in ("running", "failed", "finished"):
        cluster.starts()
        cluster.settle()
    if stage in ("failed", "finished"):
        cluster.ends(exit_code={"failed": 1, "finished": 0}[stage])
        cluster.settle()
    cluster.wait(5)
    assert cluster.run() == 0


def test_every_situation_is_known_to_some_job() -> None:
    """Every function of the table is used: each one plans at least one of these states."""
    known: set[str] = set()
    for cluster in _states():
        view = Context(cluster.job(), cluster.snapshot(), cluster.settings, cluster.now)
        known.add(next(situation.__name__ for situation in SITUATIONS if situation(view) is not None))
    assert known == {situation.__name__ for situation in SITUATIONS} - {"being_deleted", "unreadable"}


def _states() -> list[Cluster]:
    fresh, named, invalid = Cluster(), Cluster(), Cluster(spec={**SPEC, "config": None})
    named.run()
    held, ray = Cluster(spec={**SPEC, "suspend": True}), Cluster(spec=RAY, kuberay=False)
    going = running()
    stopping, late, over, gone, queued, stray, dark = (running(activeDeadlineSeconds=10) for _ in range(7))
    stopping.change(suspend=True)
    late.wait(11)
    slow = Cluster()
    slow.settle()
    slow.pods = {"one": pod(slow, phase="Pending", scheduled=slow.now)}
    slow.wait(900)
    over.ends()
    gone.children.clear()
    queued.children[queued.child.name] = replace(queued.child, state="suspended")
    stray.children["late"] = replace(stray.child, name="late")
    dark.pods, dark.nodes = {"one": pod(dark, deletion_time=dark.now)}, ()
    done, failed, paused, lingering = (running() for _ in range(4))
    spent = running(activeDeadlineSeconds=10)
    done.ends()
    done.settle()
    failed.ends(exit_code=1)
    failed.run()
    paused.ends(exit_code=1)
    paused.settle()
    spent.ends(exit_code=1)
    spent.settle()
    spent.status = spent.status.model_copy(update={"active_seconds": 10})
    lingering.pods = {"one": pod(lingering)}
    lingering.ends(exit_code=1)
    lingering.settle()
    smaller, larger = started(2, 2), started(2)
    smaller.leaves("gpus-0")
    smaller.pass_time(30)
    smaller.wait(60)
    larger.joins(node("new", 2))
    return [
        *(fresh, named, invalid, held, ray, going, stopping, late, over, gone, queued, stray, dark, slow),
        *(done, failed, paused, lingering, spent, smaller, larger),
    ]


def test_gpu_seconds_add_up_over_attempts_and_leave_preprocessing_out() -> None:
    gpus = Node("eight", True, False, {}, (), {"nvidia.com/gpu": 8.0, "cpu": 64.0})
    trainer = {"num_workers": 2, "use_gpu": True}
    backend = {"type": "ray", "cache_dir": "s3://cache", "trainer": trainer}
    cluster = Cluster(spec={**SPEC, "backend": backend}, nodes=(gpus,))
    cluster.settle()
    cluster.starts()
    cluster.settle()
    cluster.wait(500)
    cluster.ends()
    cluster.settle()
    assert cluster.status.preprocessed is not None
    assert cluster.status.gpu_seconds is None
    for _ in range(2):
        cluster.starts()
        cluster.settle()
        cluster.wait(100)
        cluster.ends(exit_code=1)
        cluster.settle()
        cluster.wait(1000)
        cluster.settle()
    assert cluster.status.gpu_seconds == 400


def test_without_gpus_there_are_no_gpu_seconds() -> None:
    cluster = running()
    cluster.wait(100)
    cluster.ends()
    cluster.settle()
    assert (cluster.status.active_seconds, cluster.status.gpu_seconds) == (100, None)
