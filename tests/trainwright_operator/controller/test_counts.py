from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from trainwright_api.resource.status import Attempt, TrainingJobStatus
from trainwright_operator.controller.counts import Counts
from trainwright_operator.model.observed import Job
from trainwright_operator.model.plan import Plan

from ..a_job import seen, stored
from ..fake_api import FakeApi

ENDED = Attempt(number=1, outcome="preempted")


class Recorder:
    def __init__(self) -> None:
        self.phases: Mapping[str, int] = {}
        self.retries: list[str] = []

    def jobs(self, by_phase: Mapping[str, int]) -> None:
        self.phases = {phase: number for phase, number in by_phase.items() if number}

    def retried(self, outcome: str) -> None:
        self.retries.append(outcome)


def counting() -> tuple[Counts, Recorder]:
    recorder = Recorder()
    observer: Any = recorder
    return Counts(observer), recorder


def job(**status: Any) -> Job:
    return seen(stored(FakeApi()), **status)


def test_jobs_are_counted_by_phase_as_they_come_change_and_go() -> None:
    counts, recorder = counting()
    counts.saw(("team", "a"), job())
    counts.saw(("team", "b"), job(phase="Running"))
    assert recorder.phases == {"Pending": 1, "Running": 1}
    counts.saw(("team", "a"), job(phase="Running"))
    assert recorder.phases == {"Running": 2}
    counts.saw(("team", "b"), None)
    assert recorder.phases == {"Running": 1}


def test_a_new_attempt_is_a_retry_after_the_last_outcome() -> None:
    counts, recorder = counting()
    counts.did(job(attempts=[ENDED]), Plan(status=TrainingJobStatus(attempts=[ENDED, Attempt(number=2)])))
    assert recorder.retries == ["preempted"]


def test_a_first_attempt_and_a_pass_within_one_are_none() -> None:
    counts, recorder = counting()
    counts.did(job(), Plan(status=TrainingJobStatus(attempts=[Attempt(number=1)])))
    counts.did(job(attempts=[Attempt(number=1)]), Plan(status=TrainingJobStatus(attempts=[ENDED])))
    counts.did(job(attempts=[ENDED]), Plan())
    assert recorder.retries == []
