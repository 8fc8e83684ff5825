from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from trainwright_api.resource.status import Attempt, Preprocessed, TrainingJobStatus
from trainwright_operator.controller.counts import Counts
from trainwright_operator.model import times
from trainwright_operator.model.observed import Job
from trainwright_operator.model.plan import Plan

from ..a_job import seen, stored
from ..fake_api import FakeApi
from ..fake_time import START

ENDED = Attempt(number=1, outcome="preempted")


class Recorder:
    def __init__(self) -> None:
        self.phases: Mapping[str, int] = {}
        self.retries: list[str] = []
        self.times: list[tuple[Any, ...]] = []

    def jobs(self, by_phase: Mapping[str, int]) -> None:
        self.phases = {phase: number for phase, number in by_phase.items() if number}

    def retried(self, outcome: str) -> None:
        self.retries.append(outcome)

    def queued_for(self, *found: Any) -> None:
        self.times.append(("queued", *found))

    def started_after(self, *found: Any) -> None:
        self.times.append(("started", *found))

    def ran_for(self, *found: Any) -> None:
        self.times.append(("ran", *found))

    def used_gpus(self, *found: Any) -> None:
        self.times.append(("gpus", *found))


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


def at(seconds: float) -> str:
    return times.written(times.after(START, seconds))


CREATED = Attempt(number=1, create_time=at(10))
STARTED = CREATED.model_copy(update={"start_time": at(40)})
CRASHED = STARTED.model_copy(update={"completion_time": at(100), "outcome": "crash"})


def counted(before: dict[str, Any], after: dict[str, Any]) -> list[tuple[Any, ...]]:
    counts, recorder = counting()
    counts.did(job(**before), Plan(status=TrainingJobStatus(**after)))
    return recorder.times


def test_a_start_is_counted_from_the_child_and_the_first_one_from_the_job() -> None:
    assert counted({"attempts": [CREATED]}, {"attempts": [STARTED]}) == [
        ("queued", "team", 30.0),
        ("started", "team", 40.0),
    ]
    assert counted({"attempts": [STARTED]}, {"attempts": [STARTED]}) == []
    second = {"number": 2, "create_time": at(110)}
    again = [CRASHED, Attempt(**second)], [CRASHED, Attempt(**second, start_time=at(115))]
    assert counted({"attempts": again[0]}, {"attempts": again[1]}) == [("queued", "team", 5.0)]


def test_the_stage_after_preprocessing_is_no_first_start() -> None:
    prepared = {"attempts": [CREATED], "preprocessed": Preprocessed(attempt=1)}
    assert counted(prepared, {**prepared, "attempts": [STARTED]}) == [("queued", "team", 30.0)]


def test_an_end_is_counted_with_its_class_and_its_gpus() -> None:
    ended = {"attempts": [CRASHED], "gpu_seconds": 240}
    assert counted({"attempts": [STARTED], "gpu_seconds": 120}, ended) == [
        ("ran", "team", "crash", 60.0),
        ("gpus", "team", 120),
    ]
    assert counted(ended, ended) == []


def test_an_attempt_that_starts_and_ends_within_one_pass_is_counted_whole() -> None:
    assert [one[0] for one in counted({"attempts": [CREATED]}, {"attempts": [CRASHED]})] == ["queued", "started", "ran"]


def test_an_attempt_that_never_ran_has_no_time() -> None:
    stopped = CREATED.model_copy(update={"completion_time": at(50), "outcome": "stopped"})
    assert counted({"attempts": [CREATED]}, {"attempts": [stopped]}) == []


def test_a_clock_that_goes_back_gives_no_negative_time() -> None:
    early = CREATED.model_copy(update={"start_time": at(5)})
    assert counted({"attempts": [CREATED]}, {"attempts": [early]})[0] == ("queued", "team", 0.0)
