"""One trial in its process: an ordinary training whose evaluation rounds are reported to the search."""

from __future__ import annotations

import traceback
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from trainwright_trainer.callbacks.console import Console
from trainwright_trainer.callbacks.events import Ended, Evaluated, Event, Scores, Started
from trainwright_trainer.callbacks.history import History
from trainwright_trainer.errors import AlreadyDone, Outcome, StoppedRun
from trainwright_trainer.job.options import Options
from trainwright_trainer.rundir import json_text, layout
from trainwright_trainer.rundir.record import read_run
from trainwright_trainer.runtime.signals import StopRequest
from trainwright_trainer.search.log import FOLDER, RUNS
from trainwright_trainer.search.objective import Objective
from trainwright_trainer.search.trial_job import trial_job, trial_text
from trainwright_trainer.storage.base import Storage
from trainwright_trainer.storage.location import Place
from trainwright_trainer.storage.registry import storage_at
from trainwright_trainer.storage.s3client.credentials import S3Credentials

ENDED = f"{FOLDER}ended/"
Report = Callable[[Mapping[str, Any]], bool]
"""Sends a result to the search. Returns False if the trial has to stop."""


class Train(Protocol):
    """`tasks.run.run`."""

    def __call__(
        self, task: str, path: Path, options: Options, *, text: str, console: Console, stop: StopRequest
    ) -> object: ...


@dataclass(frozen=True)
class TrialSetting:
    """All trials of a search share it. `output`: the run folder of the search; `job`: its resource as plain data."""

    job: Mapping[str, Any]
    name: str
    output: Place
    access: S3Credentials | None
    objective: Objective
    threads: int | None
    train: Train
    backend: str = "local"
    """local: a trial is one process; ray: a gang of workers, which Ray Train starts."""
    cpus: int | None = None
    """The CPUs of a trial of one process."""

    def text(self, trial: str, values: Mapping[str, Any]) -> str:
        return trial_text(trial_job(self.job, self.name, trial, values, self.backend))

    def storage(self, trial: str) -> Storage:
        return storage_at(str(self.place(trial)), self.access)

    def place(self, trial: str) -> Place:
        return self.output / RUNS / trial


class TrialStop(StopRequest):
    """The stop request of a trial. Its process is one of Ray's, so a request sends no signal: the loop reads it."""

    news: str | None = None
    """The request of the driver, if it was one."""

    def ask_from_a_thread(self, reason: str) -> None:
        self.news = reason
        self.reason = self.reason or reason


def run_trial(
    setting: TrialSetting, trial: str, values: Mapping[str, Any], report: Report, reported: int, stop: StopRequest
) -> bool:
    """Train a trial, or continue it. `reported`: the number of its rounds that this search knows already.

    Returns False if the search has stopped it. The end of a trial is written for the driver to `search/ended/`: a
    failure is no exception here, because Ray would print it and its traceback.
    """
    console, reporter = Console(quiet=True), Reporter(setting, trial, report, reported, stop)
    console.share(reporter)
    end = Outcome("done", "")
    try:
        train(setting, trial, values, console, stop)
    except AlreadyDone:
        reporter.repeat()
    except StoppedRun:
        return False
    except Exception as error:
        end = Outcome.of(error, traceback.format_exc().splitlines())
    _write_end(setting, trial, end)
    return not stop


def train(setting: TrialSetting, trial: str, values: Mapping[str, Any], console: Console, stop: StopRequest) -> object:
    """Train the run of a trial to its end, from its newest checkpoint if it has one."""
    known = read_run(setting.storage(trial)) is not None
    place = str(setting.place(trial))
    options = Options(output=place, backend=setting.backend, resume=known, threads=setting.threads, cpus=setting.cpus)
    text = setting.text(trial, values)
    return setting.train("train", Path(f"{trial}.yaml"), options, text=text, console=console, stop=stop)


def read_end(storage: Storage, trial: str) -> Outcome | None:
    """The end of a trial's process; None if it did not, as after a kill, or if the search has stopped it."""
    try:
        plain = json_text.parse(storage.read(f"{ENDED}{trial}.json"))
    except FileNotFoundError:
        return None
    return Outcome(plain["class"], plain["line"], plain["log"])


def _write_end(setting: TrialSetting, trial: str, end: Outcome) -> None:
    plain = {"class": end.kind, "line": end.line, "log": list(end.log)}
    storage_at(str(setting.output), setting.access).write(f"{ENDED}{trial}.json", [json_text.for_people(plain)])


def history(storage: Storage) -> Mapping[str, Any]:
    """metrics.json of a run; without rounds if the run has not written it."""
    try:
        return dict(json_text.parse(storage.read(layout.METRICS)))
    except FileNotFoundError:
        return {"rounds": [], "end": None}


class Reporter:
    """A listener that reports the score after each evaluation round, and asks the run to stop if the search says so."""

    def __init__(self, setting: TrialSetting, trial: str, report: Report, reported: int, stop: StopRequest) -> None:
        self._setting, self._trial, self._report, self._stop = setting, trial, report, stop
        self._reported, self._number = reported, 0
        self._rounds: list[Evaluated] = []

    def on_event(self, event: Event) -> None:
        if isinstance(event, Started):
            for known in History.from_json(self._metrics()).rounds:
                if known.step <= event.step:  # the run continues from a checkpoint at this step
                    self._round(known)
        elif isinstance(event, Evaluated):
            self._round(event)
        elif isinstance(event, Ended):
            self._end(event.test, event.best_epoch, event.best_step, event.seconds)

    def close(self) -> None:
        """Does nothing: every round has been reported."""

    def repeat(self) -> None:
        """Report the rounds of a run that has ended already."""
        content = self._metrics()
        for known in History.from_json(content).rounds:
            self._round(known)
        if end := content.get("end"):
            self._end(end["test"], end["best_epoch"], end["best_step"], end["seconds"])

    def _metrics(self) -> Mapping[str, Any]:
        return history(self._setting.storage(self._trial))

    def _end(self, test: Scores, epoch: int, step: int, seconds: float) -> None:
        if self._setting.objective.split == "test":
            self._send(self._setting.objective.of_scores(test), epoch, step, seconds)

    def _round(self, event: Evaluated) -> None:
        if self._rounds and event.step <= self._rounds[-1].step:
            return  # the round of the checkpoint itself, computed again
        self._rounds.append(event)
        if self._setting.objective.split != "test":
            self._send(self._setting.objective.of_rounds(self._rounds), event.epoch, event.step, event.seconds)

    def _send(self, score: float, epoch: int, step: int, seconds: float) -> None:
        """NaN is no score: neither a search algorithm nor a scheduler can use it."""
        if score != score or self._stop:
            return
        self._number += 1
        if self._number <= self._reported:
            return
        result = {"score": score, "round": self._number, "epoch": epoch, "step": step, "seconds": seconds}
        if not self._report(result):
            self._stop.ask("the search")
