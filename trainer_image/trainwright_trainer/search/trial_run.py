"""One trial in its process: an ordinary training whose evaluation rounds are reported to the search."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from trainwright_trainer.callbacks.console import Console
from trainwright_trainer.callbacks.events import Evaluated, rounds_of
from trainwright_trainer.callbacks.history import ANOTHER_RUN
from trainwright_trainer.errors import AlreadyDone, Outcome, StoppedRun
from trainwright_trainer.job.options import Options
from trainwright_trainer.rundir import json_text, layout
from trainwright_trainer.rundir.checkpoint import read_manifest
from trainwright_trainer.rundir.layout import CheckpointName
from trainwright_trainer.rundir.record import read_run
from trainwright_trainer.runtime.signals import StopRequest
from trainwright_trainer.search.log import FOLDER, PARENTS, RUNS
from trainwright_trainer.search.objective import Objective
from trainwright_trainer.search.reporter import Report, Reporter
from trainwright_trainer.search.trial_job import trial_job, trial_text
from trainwright_trainer.search.trials import Origin
from trainwright_trainer.storage.base import Storage
from trainwright_trainer.storage.location import Place
from trainwright_trainer.storage.registry import storage_at
from trainwright_trainer.storage.s3client.credentials import S3Credentials

ENDED = f"{FOLDER}ended/"


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

    def text(self, trial: str, values: Mapping[str, Any], origin: Origin | None = None) -> str:
        begin = None if origin is None else str(self.parent(origin.trial) / layout.CHECKPOINTS / origin.checkpoint)
        return trial_text(trial_job(self.job, self.name, trial, values, self.backend, begin))

    def parent(self, trial: str) -> Place:
        """The folder with the checkpoints of a trial that others begin with. Unlike its run, it deletes none."""
        return self.output / PARENTS / trial

    def storage(self, trial: str) -> Storage:
        return storage_at(str(self.place(trial)), self.access)

    def place(self, trial: str) -> Place:
        return self.output / RUNS / trial


class TrialStop(StopRequest):
    """The stop request of a trial. Its process is one of Ray's, so a request sends no signal: the loop reads it."""

    decides = True
    news: str | None = None
    """The request of the driver, if it was one."""

    def ask_from_a_thread(self, reason: str) -> None:
        self.news = reason
        self.reason = self.reason or reason


def run_trial(
    setting: TrialSetting,
    trial: str,
    values: Mapping[str, Any],
    report: Report,
    reported: int,
    stop: StopRequest,
    origin: Origin | None = None,
) -> bool:
    """Train a trial, or continue it. `reported`: the number of its rounds that this search knows already.

    Returns False if the search has stopped it. The end of a trial is written for the driver to `search/ended/`: a
    failure is no exception here, because Ray would print it and its traceback.
    """
    console = Console(quiet=True)
    reporter = Reporter(setting.objective, lambda: history(setting.storage(trial)), report, reported, stop)
    reporter.begin_after(rounds_before(setting, origin))
    console.share(reporter)
    end = Outcome("done", "")
    try:
        train(setting, trial, values, console, stop, origin)
    except AlreadyDone:
        reporter.repeat()
    except StoppedRun:
        return False
    except Exception as error:
        end = Outcome.traced(error)
    _write_end(setting, trial, end)
    return not stop


def train(
    setting: TrialSetting,
    trial: str,
    values: Mapping[str, Any],
    console: Console,
    stop: StopRequest,
    origin: Origin | None = None,
) -> object:
    """Train the run of a trial to its end, from its newest checkpoint if it has one."""
    known = read_run(setting.storage(trial)) is not None
    place = str(setting.place(trial))
    options = Options(output=place, backend=setting.backend, resume=known, threads=setting.threads, cpus=setting.cpus)
    text = setting.text(trial, values, origin)
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
    """metrics.json of a run with its own rounds alone; without rounds if the run has not written it."""
    try:
        content = dict(json_text.parse(storage.read(layout.METRICS)))
    except FileNotFoundError:
        return {"rounds": [], "end": None}
    return {**content, "rounds": [row for row in content["rounds"] if row["attempt"] != ANOTHER_RUN]}


def rounds_before(setting: TrialSetting, origin: Origin | None) -> Sequence[Evaluated]:
    """The rounds of the other trials before the checkpoint that a trial begins with."""
    if origin is None:
        return ()
    name = CheckpointName.parse(origin.checkpoint)
    assert name is not None
    manifest = read_manifest(storage_at(str(setting.parent(origin.trial)), setting.access), name)
    return rounds_of(manifest.state["history"])
