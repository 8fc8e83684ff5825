from __future__ import annotations

from datetime import timedelta

import pytest

from trainwright_api.resource.status import Attempt, OutcomeClass, TrainingJobStatus
from trainwright_operator.model import times
from trainwright_operator.policies import retry
from trainwright_operator.policies.deadlines import Limits
from trainwright_operator.settings import Backoff

LIMITS = Limits(backoff=2, preemption=1, active_deadline=None)
PLAIN = Backoff(base=10, limit=300, jitter=0)


@pytest.mark.parametrize(
    ("outcome", "retries", "preemptions", "reason"),
    [
        ("mistake", 0, 0, "Mistake"),
        ("crash", 2, 0, ""),
        ("crash", 3, 0, "BackoffLimitExceeded"),
        ("environment", 3, 0, "BackoffLimitExceeded"),
        ("infrastructure", 3, 0, "BackoffLimitExceeded"),
        ("preempted", 9, 1, ""),
        ("preempted", 0, 2, "PreemptionLimitExceeded"),
        ("stopped", 9, 9, ""),
    ],
)
def test_who_is_tried_again(outcome: OutcomeClass, retries: int, preemptions: int, reason: str) -> None:
    assert retry.refusal(outcome, retries, preemptions, LIMITS) == reason


def test_the_pause_doubles_up_to_its_limit() -> None:
    assert [retry.pause(n, "x", PLAIN) for n in (1, 2, 3, 6, 7, 500)] == [10, 20, 40, 300, 300, 300]


def test_the_pause_is_spread_and_always_the_same_for_one_attempt() -> None:
    spread = Backoff(base=10, limit=300, jitter=0.2)
    pauses = [retry.pause(1, f"uid/{n}", spread) for n in range(200)]
    assert all(8 <= pause <= 12 for pause in pauses)
    assert max(pauses) - min(pauses) > 3
    assert retry.pause(1, "uid/7", spread) == pauses[7]


@pytest.mark.parametrize(("outcome", "seconds"), [("crash", 20), ("preempted", None), ("stopped", None)])
def test_only_endings_that_count_are_followed_by_a_pause(outcome: OutcomeClass, seconds: int | None) -> None:
    last = Attempt(number=2, completion_time="2026-11-21T12:00:00Z", outcome=outcome)
    due = retry.due(TrainingJobStatus(retries=2), last, "uid", PLAIN)
    ended = times.read(last.completion_time)
    assert ended is not None
    assert due == (None if seconds is None else ended + timedelta(seconds=seconds))
