"""The limits on the start of an attempt, and its ending when it does not start."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest

from trainwright_operator.children.pods import GRACE_SECONDS
from trainwright_operator.model.observed import Child, Pod, Snapshot, Waiting
from trainwright_operator.policies import start

from ..simulation import START, UID

CHILD = Child("RayJob", "default", "flights-1-train", "u", UID, 1, "train", START, False, "pending", pods=2)
PLACED = Pod("default", "flights-head", "p1", UID, 1, "node-1", "Running", scheduled=START + timedelta(seconds=5))
PENDING = Pod("default", "flights-worker", "p2", UID, 1, None, "Pending")
WAITS = replace(PENDING, unschedulable="0/1 nodes: Insufficient cpu", unschedulable_since=START + timedelta(seconds=7))
STARTING = replace(PENDING, node="node-1", scheduled=START + timedelta(seconds=9))
UNPULLABLE = replace(STARTING, waiting="ImagePullBackOff: Back-off pulling image", waiting_image="ml:1")
UNMADE = replace(STARTING, waiting='CreateContainerConfigError: secret "s3-keys" not found')


def waiting(*uids: str, trying: bool = True, gang: bool = True) -> tuple[Waiting, ...]:
    return tuple(Waiting(f"2026-11-21T12:00:{place:02}Z", uid, gang, trying) for place, uid in enumerate(uids))


def seconds(moment: object) -> float | None:
    return None if moment is None else (moment - START).total_seconds()  # type: ignore[operator]


def test_the_deadline_counts_from_the_first_pod_with_a_node() -> None:
    assert start.deadline((WAITS,), 900) is None
    assert seconds(start.deadline((STARTING, WAITS, PLACED), 900)) == 905
    assert seconds(start.deadline((replace(PLACED, phase="Failed"), STARTING), 900)) == 909


def test_a_gang_is_placed_when_all_of_its_pods_have_a_node() -> None:
    assert not start.is_placed(CHILD, (PLACED,)), "its worker is not made yet"
    assert not start.is_placed(CHILD, (PLACED, WAITS))
    assert start.is_placed(CHILD, (PLACED, STARTING))
    assert not start.is_placed(CHILD, (PLACED, STARTING, replace(WAITS, name="submitter"))), (
        "the submitter is one of them"
    )


@pytest.mark.parametrize(
    ("others", "due"),
    [
        ((), None),
        (waiting(UID), None),
        (waiting(UID, "younger"), 67),
        (waiting("older", UID), 37),
        (waiting("older", UID, gang=False), 67),
        (waiting("older", UID, trying=False), 67),
    ],
)
def test_a_gang_makes_room_for_others_and_the_oldest_that_tries_does_so_last(
    others: tuple[Waiting, ...], due: float | None
) -> None:
    assert seconds(start.gives_way(CHILD, (PLACED, WAITS), Snapshot(waiting=others), 30)) == due


def test_a_gang_that_holds_nothing_makes_room_too() -> None:
    assert seconds(start.gives_way(CHILD, (WAITS,), Snapshot(waiting=waiting("older", UID)), 30)) == 37


def test_while_pods_of_others_leave_room_is_on_its_way() -> None:
    snapshot = Snapshot(waiting=waiting("older", UID), others_stopping=True)
    assert seconds(start.gives_way(CHILD, (PLACED, WAITS), snapshot, 30)) == 37 + GRACE_SECONDS


def test_others_try_when_a_gang_has_pods_that_may_find_their_place() -> None:
    assert start.others_try(UID, waiting("older", UID))
    assert not start.others_try(UID, waiting(UID))
    assert not start.others_try(UID, waiting("older", UID, trying=False))
    assert not start.others_try(UID, waiting("older", UID, gang=False))


@pytest.mark.parametrize(
    ("pods", "limit", "outcome", "reason", "message"),
    [
        (
            (PLACED, WAITS),
            None,
            "stopped",
            "Unschedulable",
            "not all of its pods found room: 0/1 nodes: Insufficient cpu",
        ),
        ((PLACED,), 900, "stopped", "Unschedulable", "not all of its pods found room: some of them were not created"),
        (
            (PLACED, UNPULLABLE),
            900,
            "environment",
            "StartDeadlineExceeded",
            "image ml:1 could not be pulled within startDeadlineSeconds (900 s): "
            "pod flights-worker: ImagePullBackOff: Back-off pulling image",
        ),
        (
            (UNPULLABLE, WAITS),
            None,
            "stopped",
            "Unschedulable",
            "not all of its pods found room: 0/1 nodes: Insufficient cpu",
        ),
        (
            (PLACED, UNMADE),
            900,
            "environment",
            "StartDeadlineExceeded",
            "it did not start within startDeadlineSeconds (900 s): "
            'pod flights-worker: CreateContainerConfigError: secret "s3-keys" not found',
        ),
        (
            (PLACED, STARTING),
            900,
            "infrastructure",
            "StartDeadlineExceeded",
            "RayJob flights-1-train did not run within startDeadlineSeconds (900 s)",
        ),
    ],
    ids=["no room", "pods not made", "no image", "no image and no room", "no secret", "no reason known"],
)
def test_what_an_attempt_that_does_not_start_ends_with(
    pods: tuple[Pod, ...], limit: int | None, outcome: str, reason: str, message: str
) -> None:
    end = start.ending(CHILD, pods, limit)
    assert (end.outcome, end.reason, end.message) == (outcome, reason, message)


def test_a_gang_without_all_of_its_pods_ends_with_the_reason_that_kuberay_gives() -> None:
    refused = replace(CHILD, pods_refused="exceeded quota: team")
    end = start.ending(refused, (PLACED,), None)
    assert end.message == "not all of its pods found room: exceeded quota: team"
