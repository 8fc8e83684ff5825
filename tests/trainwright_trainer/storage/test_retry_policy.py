"""The duration and the number of retries."""

from __future__ import annotations

import itertools

import pytest
from tests.trainwright_trainer.storage.outage_clock import OutageClock

from trainwright_trainer.storage.retry_policy import RetryPolicy


def why() -> str:
    return "s3://bucket: no answer"


def test_it_asks_more_and_more_seldom_for_more_than_two_minutes() -> None:
    clock, times = OutageClock(), [0.0]
    waiting = clock.retry_policy().begin()
    while waiting.again(why):
        times.append(clock.now)
    assert 120 < times[-1] < 180
    waits = [later - earlier for earlier, later in itertools.pairwise(times)]
    assert waits[:3] == sorted(waits[:3])
    assert waits[0] < 0.5
    assert max(waits) <= 10


def test_the_time_that_requests_take_counts() -> None:
    clock = OutageClock()
    waiting = clock.retry_policy().begin()
    assert waiting.again(why)
    clock.now += 1000
    assert not waiting.again(why)


def test_waits_are_of_random_length() -> None:
    slept: list[float] = []
    retry_policy = RetryPolicy(clock=lambda: 0.0, sleep=slept.append, chance=iter([0.0, 1.0]).__next__, longest=0.2)
    waiting = retry_policy.begin()
    assert waiting.again(why)
    assert waiting.again(why)
    assert slept == [0.1, 0.2]


def answered(retry_policy: RetryPolicy) -> RetryPolicy:
    retry_policy.ask(lambda: None, (OSError,), lambda _: True, lambda error, _: error)
    return retry_policy


def test_a_long_wait_is_reported_once() -> None:
    clock = OutageClock()
    waiting = answered(clock.retry_policy()).begin()
    for _ in range(10):
        waiting.again(why)
    assert clock.lines == ["s3://bucket: no answer; it is asked again for 150 s in all"]


def test_people_are_reported_on_standard_error(capsys: pytest.CaptureFixture[str]) -> None:
    waiting = RetryPolicy(silent=0, sleep=lambda _: None).begin()
    waiting.again(why)
    assert capsys.readouterr().err == "s3://bucket: no answer; it is asked again for 150 s in all\n"


def test_a_short_wait_is_not_reported() -> None:
    clock = OutageClock()
    waiting = answered(clock.retry_policy()).begin()
    while clock.now < 2:
        waiting.again(why)
    assert clock.lines == []


def test_the_first_failure_of_a_store_that_has_never_answered_is_reported_at_once() -> None:
    clock = OutageClock()
    waiting = clock.retry_policy().begin()
    waiting.again(why)
    waiting.again(why)
    assert clock.lines == ["s3://bucket: no answer; it is asked again for 150 s in all"]
