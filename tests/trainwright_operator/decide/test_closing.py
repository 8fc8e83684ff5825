"""The end of an attempt: what it was, from the posted outcome, the child and its pods."""

from __future__ import annotations

from dataclasses import replace

import pytest

from trainwright_operator.children import read_child
from trainwright_operator.decide.plan import plan
from trainwright_operator.model.plan import Lookup

from ..simulation import SETTINGS, Cluster
from .scenario import RAY, pod, running


@pytest.mark.parametrize("seen", ["Running", "Succeeded"])
def test_a_job_does_not_start_again_between_the_end_of_its_pod_and_its_own(seen: str) -> None:
    """The Job may report that no pod is ready before the end of the pod is seen."""
    cluster = running()
    cluster.children[cluster.child.name] = replace(cluster.child, state="pending")
    cluster.pods["pod-1"] = pod(cluster, phase=seen)
    cluster.settle()
    assert (cluster.status.phase, cluster.condition("Running")) == ("Running", ("True", "Running"))


def test_without_a_posted_outcome_the_model_is_where_the_run_folder_has_it() -> None:
    cluster = running()
    cluster.ends()
    cluster.settle()
    assert cluster.status.model == "s3://runs/default/flights-1c9e2f7a/model"


def test_a_train_function_of_the_user_has_no_model_and_its_line_is_the_message() -> None:
    entrypoint = {"module": "m", "function": "f"}
    trainer = {"type": "ray", "trainer": {"num_workers": 2}}
    cluster = running(config=None, dataset=None, entrypoint=entrypoint, backend=trainer)
    line = "done in 9 s · 5 reports · best val_loss 0.1 (report 5)"
    cluster.posts("done", line)
    cluster.ends()
    cluster.settle()
    assert (cluster.status.phase, cluster.status.message, cluster.status.model) == ("Complete", line, None)


def test_a_mistake_fails_once_and_its_line_is_the_message() -> None:
    cluster = running()
    cluster.posts("mistake", "config.input_features[0].column: 'dep_dely' is not in the data")
    cluster.ends(exit_code=2)
    cluster.settle()
    assert cluster.status.phase == "Failed"
    assert cluster.status.message == "config.input_features[0].column: 'dep_dely' is not in the data"
    assert cluster.condition("Failed") == ("True", "Mistake")
    assert cluster.condition("Stalled") == ("True", "Mistake")
    assert cluster.created == ["flights-1c9e2f7a-1-train"]


def test_a_child_that_somebody_deletes_is_lost_infrastructure() -> None:
    cluster = running()
    cluster.children.clear()
    cluster.settle()
    (attempt,) = cluster.status.attempts or []
    assert (attempt.outcome, attempt.reason) == ("infrastructure", "ChildGone")
    assert cluster.status.retries == 1


def test_a_child_that_is_gone_after_it_posted_its_end_is_taken_at_its_word() -> None:
    cluster = running()
    cluster.posts("done")
    cluster.children.clear()
    cluster.settle()
    assert cluster.status.phase == "Complete"


def test_a_missing_child_counts_only_after_it_was_asked_for() -> None:
    cluster = running()
    cluster.children.clear()
    (lookup,) = plan(cluster.job(), cluster.snapshot(), SETTINGS, cluster.now).lookups
    assert (lookup.target, lookup.name, lookup.kind) == ("child", "flights-1c9e2f7a-1-train", "Job")


def test_an_attempt_counts_as_lost_only_after_its_pods_were_asked_for() -> None:
    cluster = running()
    cluster.ends(exit_code=137)
    assert plan(cluster.job(), cluster.snapshot(), SETTINGS, cluster.now).lookups == (Lookup("pods"),)
    unseen = pod(cluster, disrupted="PreemptionByScheduler")
    decided = plan(cluster.job(), cluster.snapshot(pods=(unseen,), pods_fresh=True), SETTINGS, cluster.now)
    assert decided.status is not None
    assert (decided.status.attempts or [])[0].outcome == "preempted"


@pytest.mark.parametrize("end", ["out of time", "sent back to its queue", "stopped"])
def test_a_child_that_may_have_ended_unseen_is_asked_for_before_its_attempt_is_closed(end: str) -> None:
    cluster = running(activeDeadlineSeconds=1000)
    cluster.wait(1000 if end == "out of time" else 10)
    if end == "sent back to its queue":
        cluster.children[cluster.child.name] = replace(cluster.child, state="suspended")
    if end == "stopped":
        cluster.change(suspend=True)
        cluster.settle()
        cluster.wait(SETTINGS.stop_grace)
    (lookup,) = plan(cluster.job(), cluster.snapshot(), SETTINGS, cluster.now).lookups
    assert (lookup.target, lookup.name, lookup.kind) == ("child", "flights-1c9e2f7a-1-train", "Job")
    cluster.ends()
    cluster.settle()
    assert cluster.status.phase == "Complete", "it had ended"


def test_a_child_that_has_posted_its_end_and_does_not_leave_is_deleted_after_the_grace() -> None:
    cluster = running()
    cluster.posts("mistake", "no such column")
    cluster.settle()
    assert cluster.status.phase == "Running"
    cluster.wait(SETTINGS.stop_grace)
    cluster.settle()
    assert cluster.status.phase == "Failed"
    assert not cluster.children


def test_what_kuberay_refuses_is_deleted_and_made_anew() -> None:
    """KubeRay never reconciles a RayJob again that failed its validation."""
    cluster = Cluster(spec={**RAY, "backoffLimit": 1})
    cluster.settle()
    for attempt in (1, 2):
        assert list(cluster.children) == [f"flights-1c9e2f7a-{attempt}-train"]
        refused = replace(cluster.child, state="failed", reason="ValidationFailed", message="too long a name")
        cluster.children[refused.name] = refused
        cluster.settle()
        cluster.wait(20)
        cluster.settle()
    assert cluster.condition("Failed") == ("True", "BackoffLimitExceeded")
    assert cluster.status.message == "attempt 2: too long a name"
    assert (cluster.status.attempts or [])[0].reason == "ValidationFailed"
    assert not cluster.children, "its cluster, if it has one, would run for ever"


def test_a_ray_job_that_was_stopped_by_somebody_is_not_complete() -> None:
    cluster = running(backend=RAY["backend"])
    raw = {"kind": "RayJob", "metadata": cluster.manifests[-1]["metadata"]}
    stopped = {"jobDeploymentStatus": "Complete", "jobStatus": "STOPPED"}
    found = read_child({**raw, "status": stopped})
    assert found is not None
    cluster.children[found.name] = found
    cluster.settle()
    assert (cluster.status.attempts or [])[0].outcome == "infrastructure"
    assert (cluster.status.attempts or [])[0].reason == "STOPPED"
