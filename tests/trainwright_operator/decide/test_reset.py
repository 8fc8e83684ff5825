"""A status that cannot be read is reset, and read back from the children, or from the run folder by the trainer."""

from __future__ import annotations

from dataclasses import replace

import pytest

from trainwright_api.resource.status import TrainingJobStatus
from trainwright_operator.decide.plan import plan

from ..simulation import SETTINGS, SPEC, Cluster

GPUS = {"type": "ray", "cache_dir": "s3://cache", "trainer": {"num_workers": 2, "use_gpu": True}}


def second_attempt(**spec: object) -> Cluster:
    """A job whose first attempt has crashed after 100 s, and whose second one runs."""
    cluster = Cluster(spec={**SPEC, **spec})
    for _ in range(2):
        cluster.wait(1000)
        cluster.settle()
        cluster.starts()
        cluster.settle()
        if cluster.status.attempt == 1:
            cluster.wait(100)
            cluster.ends(exit_code=1)
            cluster.settle()
    return cluster


def reset(cluster: Cluster) -> None:
    cluster.status = TrainingJobStatus()


def test_an_unreadable_status_is_removed_and_nothing_else_is_done() -> None:
    cluster = second_attempt()
    job = replace(cluster.job(), status=TrainingJobStatus(), unreadable="status.attempt: expected a whole number")
    found = plan(job, cluster.snapshot(), SETTINGS, cluster.now)
    assert found.reset == "status.attempt: expected a whole number"
    assert (found.create, found.delete, found.status) == ((), (), None)


def test_the_attempt_and_the_counts_are_read_back_from_the_child() -> None:
    cluster = second_attempt()
    before = cluster.status
    reset(cluster)
    cluster.settle()
    assert cluster.created == ["flights-1c9e2f7a-1-train", "flights-1c9e2f7a-2-train"]
    assert (cluster.status.phase, cluster.status.attempt, cluster.status.child) == ("Running", 2, before.child)
    assert (cluster.status.retries, cluster.status.active_seconds) == (1, 100)
    assert (cluster.status.resolved, cluster.status.output) == (before.resolved, before.output)
    assert cluster.status.start_time == before.start_time
    cluster.ends()
    cluster.settle()
    assert (cluster.status.phase, cluster.status.model) == ("Complete", f"{before.output}/model")


def test_the_limit_of_retries_holds_after_a_reset() -> None:
    cluster = second_attempt(backoffLimit=1)
    reset(cluster)
    cluster.ends(exit_code=1)
    cluster.settle()
    assert cluster.condition("Failed") == ("True", "BackoffLimitExceeded")


def test_a_stage_that_is_done_is_not_repeated_after_a_reset() -> None:
    cluster = Cluster(spec={**SPEC, "backend": GPUS})
    for _ in range(2):
        cluster.settle()
        cluster.starts()
        cluster.settle()
        if cluster.child.stage == "preprocess":
            cluster.ends()
            cluster.settle()
    reset(cluster)
    cluster.ends(exit_code=1)
    cluster.settle()
    cluster.wait(1000)
    cluster.settle()
    assert [name.rpartition("-")[2] for name in cluster.created] == ["preprocess", "train", "train"]


@pytest.mark.parametrize("record", ["", "{", '{"retries": "one"}'])
def test_a_child_without_a_readable_record_gives_its_attempt(record: str) -> None:
    cluster = second_attempt()
    cluster.children = {name: replace(child, record=record) for name, child in cluster.children.items()}
    reset(cluster)
    cluster.settle()
    assert (cluster.status.attempt, cluster.status.retries) == (2, None)


@pytest.mark.parametrize("posted", [True, False], ids=["posted", "in the termination message"])
def test_without_a_child_the_run_folder_knows_the_next_number(posted: bool) -> None:
    """The trainer refuses a used number, and its outcome, which counts against no limit, names the next free one."""
    cluster = second_attempt()
    cluster.change(backoffLimit=0)
    cluster.children.clear()
    reset(cluster)
    cluster.settle()
    assert cluster.status.attempt == 1
    cluster.starts()
    cluster.settle()
    cluster.refuses_its_number(3, posted=posted)
    cluster.settle()
    first, second = cluster.status.attempts or []
    assert (first.outcome, first.reason, first.next_attempt) == ("stopped", "AttemptNumberUsed", 3)
    assert (second.number, cluster.status.retries, cluster.status.preemptions) == (3, None, None)
    assert list(cluster.children) == ["flights-1c9e2f7a-3-train"]
