"""When the events of a child that lacks pods are read."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest

from trainwright_operator.model.observed import Child, Pod
from trainwright_operator.policies.refused_pods import (
    FIRST_LOOK_SECONDS,
    SECONDS_BETWEEN_LOOKS,
    lacks_pods,
    must_look,
    next_look,
)

from ..simulation import START, UID

CHILD = Child("Job", "default", "flights-1-train", "u", UID, 1, "train", START, False, "pending", pods=2)
PENDING = Pod("default", "one", "p1", UID, 1, "node-1", "Pending")
RUNNING = replace(PENDING, phase="Running", started=START)
ENDED = replace(RUNNING, phase="Failed")
FIRST = START + timedelta(seconds=FIRST_LOOK_SECONDS)


@pytest.mark.parametrize(
    ("pods", "lacks"),
    [
        ((), True),
        ((PENDING,), True),
        ((PENDING, ENDED), True),
        ((PENDING, PENDING), False),
        ((PENDING, RUNNING), False),
        ((RUNNING, RUNNING), True),
    ],
)
def test_a_child_lacks_pods_while_fewer_exist_or_the_submitter_is_to_come(pods: tuple[Pod, ...], lacks: bool) -> None:
    assert lacks_pods(CHILD, pods) == lacks
    assert not lacks_pods(replace(CHILD, state="suspended"), pods)


def test_controllers_get_some_seconds_before_their_events_are_read() -> None:
    assert not must_look(CHILD, (), START)
    assert next_look(CHILD, (), START) == FIRST
    assert must_look(CHILD, (), FIRST)
    assert next_look(CHILD, (), FIRST) == FIRST + timedelta(seconds=SECONDS_BETWEEN_LOOKS)
    assert next_look(CHILD, (PENDING, PENDING), FIRST) is None


def test_no_event_is_read_if_the_status_of_the_child_has_the_reason() -> None:
    assert not must_look(replace(CHILD, pods_refused="exceeded quota"), (), FIRST)
