"""Jobs with a range of workers: they go on with fewer workers when nodes leave, and with more when there is room."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from trainwright_api.resource.job import TrainingJobSpec
from trainwright_operator.model.observed import Held, Waiting
from trainwright_operator.policy import Policy
from trainwright_operator.settings import Resize

from ..elastic_cluster import GPU, ElasticCluster, node, started
from ..simulation import SETTINGS

WINDOW, INTERVAL = int(SETTINGS.resize.window), int(SETTINGS.resize.interval)
START_DEADLINE = TrainingJobSpec.model_fields["start_deadline_seconds"].default
WAITS = Waiting("2026-11-21T11:00:00Z", "another", gang=True, trying=True, gpus=1)


def sizes(cluster: ElasticCluster) -> list[int | None]:
    return [one.workers for one in cluster.status.attempts or ()]


def resized(cluster: ElasticCluster) -> list[str]:
    return [event.message for event in cluster.events if event.reason == "Resized"]


def test_a_job_goes_on_with_fewer_workers_when_a_node_leaves() -> None:
    cluster = started(2, 2, backoffLimit=0, preemptionLimit=0)
    assert cluster.workers == 4
    cluster.leaves("gpus-0")
    cluster.pass_time(40)
    assert sizes(cluster) == [4], "it waits for another node first"
    cluster.pass_time(60)
    assert (cluster.workers, sizes(cluster)) == (2, [4, 2])
    status = cluster.status
    assert (status.retries, status.preemptions, status.resizes, status.room) == (None, None, 1, None)
    assert (status.resolved.workers, status.resolved.gpus) == (2, 2)  # type: ignore[union-attr]
    assert resized(cluster) == [
        "attempt 2: from 4 to 2 workers; some of its pods find no room; the nodes have room for 2 of 4 workers"
    ]


def test_another_node_in_time_keeps_its_size() -> None:
    cluster = started(2, 2)
    cluster.leaves("gpus-0")
    cluster.pass_time(30)
    cluster.joins(node("new", 2))
    cluster.pass_time(300)
    assert (cluster.workers, sizes(cluster)) == (4, [4])


def test_a_pod_that_is_lost_with_its_node_counts_as_a_resize_where_fewer_fit() -> None:
    cluster = started(2, 2, preemptionLimit=0)
    cluster.nodes = tuple(replace(one, ready=one.name != "gpus-0") for one in cluster.nodes or ())
    for name, pod in cluster.pods.items():
        if pod.node == "gpus-0":
            cluster.pods[name] = replace(pod, deletion_time=cluster.now)
    cluster.settle()
    assert [(one.outcome, one.reason) for one in cluster.status.attempts or ()] == [("stopped", "Shrinking")]
    cluster.pass_time(30)
    assert cluster.workers == 2
    assert cluster.status.preemptions is None


def test_below_its_minimum_a_job_waits() -> None:
    cluster = started(2, 2, least=3)
    cluster.leaves("gpus-0")
    cluster.pass_time(600)
    assert sizes(cluster) == [4]


def test_a_job_grows_after_there_was_room_for_a_window() -> None:
    cluster = started(2)
    cluster.joins(node("new", 2))
    cluster.pass_time(WINDOW - 60)
    assert (cluster.workers, sizes(cluster)) == (2, [2])
    assert cluster.status.room is not None
    assert cluster.status.room.workers == 4
    cluster.pass_time(150)
    assert (cluster.workers, sizes(cluster), cluster.status.resizes) == (4, [2, 4], 1)
    first = (cluster.status.attempts or [])[0]
    assert (first.outcome, first.reason, first.message) == (
        "stopped",
        "Growing",
        "there is room for 4 workers instead of 2",
    )
    assert resized(cluster) == ["attempt 2: from 2 to 4 workers; there is room for 4 workers instead of 2"]
    assert "Stopping" in [event.reason for event in cluster.events]


@pytest.mark.parametrize("posted", [True, False], ids=["posted", "not posted"])
def test_a_stop_for_more_workers_is_told_from_a_preemption(posted: bool) -> None:
    cluster = started(2, preemptionLimit=0)
    cluster.joins(node("new", 2))
    while not (cluster.status.attempts or [])[-1].stop_time:
        cluster.wait(10)
        cluster.settle()
    if posted:
        cluster.posts("stopped", "wrote a checkpoint")
    cluster.ends(exit_code=75)
    cluster.settle()
    assert (cluster.status.attempts or [])[0].reason == "Growing"
    assert cluster.status.preemptions is None


def test_room_that_comes_and_goes_is_no_room() -> None:
    cluster = started(2)
    for _ in range(6):
        cluster.joins(node("new", 2))
        cluster.pass_time(WINDOW - 100)
        cluster.leaves("new")
        cluster.pass_time(100)
    assert sizes(cluster) == [2]
    assert cluster.status.room is None


def test_between_a_resize_and_a_growth_lies_an_interval() -> None:
    cluster = started(2, 2)
    cluster.leaves("gpus-0")
    cluster.pass_time(100)
    cluster.joins(node("new", 2))
    cluster.pass_time(INTERVAL - 100)
    assert sizes(cluster) == [4, 2]
    cluster.pass_time(250)
    assert sizes(cluster) == [4, 2, 4]


@pytest.mark.parametrize(
    "change",
    [
        {"others_waiting": (WAITS,)},
        {"others_crowded": True},
        {"others": Held(workers=8), "settings": replace(SETTINGS, policy=Policy(max_workers_per_namespace=10))},
        {"settings": replace(SETTINGS, policy=Policy(max_gpus_per_job=2))},
        {"taken": {"new": {GPU: 2.0}}},
        {"taken": {"new": {"cpu": 16.0}}},
        {"nodes": None},
    ],
    ids=["another waits", "crowded", "the namespace", "the job", "GPUs in use", "CPUs in use", "no nodes"],
)
def test_a_job_does_not_grow_into_what_it_may_not_have(change: dict[str, object]) -> None:
    cluster = started(2)
    cluster.joins(node("new", 2))
    for name, value in change.items():
        setattr(cluster, name, value)
    cluster.pass_time(3 * WINDOW)
    assert sizes(cluster) == [2]


@pytest.mark.parametrize("gpus", [0, 9])
def test_a_job_that_waits_for_other_things_is_no_reason_to_stay_small(gpus: int) -> None:
    cluster = started(2)
    cluster.joins(node("new", 2))
    cluster.others_waiting = (replace(WAITS, gpus=gpus),)
    cluster.pass_time(2 * WINDOW)
    assert sizes(cluster) == [2, 4]


@pytest.mark.parametrize(
    ("spec", "why"),
    [
        ({"queueName": "team"}, "Kueue decides about its room"),
        ({"resizeLimit": 0}, "resizeLimit is 0"),
        ({}, ""),
    ],
)
def test_the_condition_tells_whether_the_number_changes(spec: dict[str, object], why: str) -> None:
    cluster = started(2, **spec)
    accepted = next(one.message for one in cluster.status.conditions or () if one.type == "Accepted")
    assert (f"their number stays: {why}" if why else "1 to 4 by the room") in accepted
    cluster.joins(node("new", 2))
    cluster.pass_time(2 * WINDOW)
    assert sizes(cluster) == ([2] if why else [2, 4])


def test_after_its_limit_the_size_stays() -> None:
    cluster = started(2, resizeLimit=1)
    cluster.joins(node("new", 1))
    cluster.pass_time(2 * WINDOW)
    cluster.joins(node("newer", 1))
    cluster.pass_time(2 * INTERVAL)
    assert (sizes(cluster), cluster.status.resizes) == ([2, 3], 1)


def test_a_changed_spec_ends_no_attempt() -> None:
    """No other attempt would follow."""
    cluster = started(2)
    cluster.joins(node("new", 2))
    cluster.change(dataset="s3://another")
    cluster.pass_time(2 * WINDOW)
    assert (cluster.workers, sizes(cluster)) == (2, [2])


def test_every_new_attempt_takes_the_size_that_fits() -> None:
    cluster = started(2)
    cluster.joins(node("new", 1))
    cluster.ends(exit_code=1)
    cluster.pass_time(60)
    assert (sizes(cluster), cluster.status.resizes, cluster.status.retries) == ([2, 3], 1, 1)


def test_a_job_on_cpus_goes_by_their_room() -> None:
    cluster = started(gpu=False, most=40)
    assert cluster.workers == 15, "the head and the submitter need a part of the sixteenth core"
    cluster.joins(node("new"))
    cluster.pass_time(2 * WINDOW)
    assert cluster.workers == 31


def test_a_size_that_finds_no_room_is_tried_less_and_less_often() -> None:
    """Something that the operator does not know keeps pods from the new node."""
    resize = Resize(window=60, interval=120, shrink_after=30)
    cluster = started(2, settings=replace(SETTINGS, resize=resize))
    cluster.joins(replace(node("new", 2), allocatable={**node("new", 2).allocatable, "cpu": 3.0}))
    cluster.hidden = 2.5
    tries = []
    for _ in range(4):
        before = len(sizes(cluster))
        cluster.pass_time(600)
        tries.append(sum(size == 4 for size in sizes(cluster)[before:]))
    assert cluster.workers == 2
    assert tries[0] > 0
    assert tries[-1] <= 1
    assert cluster.status.retries is None


histories = given(
    changes=st.lists(st.tuples(st.integers(0, 3), st.integers(0, 60)), max_size=6),
    least=st.integers(1, 3),
    more=st.integers(0, 5),
    gpu=st.booleans(),
)
Changes = list[tuple[int, int]]


@settings(max_examples=5, deadline=None)
@histories
def test_a_job_keeps_its_range_and_never_flaps(changes: Changes, least: int, more: int, gpu: bool) -> None:
    _never_flaps(changes, least, more, gpu=gpu)


@pytest.mark.slow
@settings(max_examples=150, deadline=None)
@histories
def test_it_never_flaps_in_many_histories(changes: Changes, least: int, more: int, gpu: bool) -> None:
    _never_flaps(changes, least, more, gpu=gpu)


def _never_flaps(changes: Changes, least: int, more: int, *, gpu: bool) -> None:
    """Nodes come and go. While they stay as they are, no growth is followed by a smaller size."""
    cluster = started(4, least=least, most=least + more, gpu=gpu)
    for index, (which, tens) in enumerate(changes):
        if any(one.name == f"gpus-{which}" for one in cluster.nodes or ()):
            cluster.leaves(f"gpus-{which}")
        else:
            cluster.joins(node(f"gpus-{which}", 1 + index % 3, cpus=2.0))
        cluster.pass_time(10 * tens)
    cluster.pass_time(START_DEADLINE + 200)  # an attempt without room ends at its deadline
    last = cluster.status.attempt or 0
    cluster.pass_time(2 * INTERVAL)
    assert all(least <= (size or 0) <= least + more for size in sizes(cluster))
    later = [one.workers or 0 for one in cluster.status.attempts or () if one.number >= last]
    assert later == sorted(later)
    grown = [size for size in later if size > least]  # a job without room for its minimum tries it again and again
    assert len(set(grown)) == len(grown), "no attempt ends without another size"
