"""The task train with an entrypoint: one attempt of a user's own train function, on workers of Ray Train."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from typing import Any

from trainwright_api.checks.entrypoint import score_attribute
from trainwright_trainer.backends.ray.cluster import cluster
from trainwright_trainer.backends.ray.function import FunctionSpec, KeptCheckpoints, run_function
from trainwright_trainer.backends.ray.messages import Message
from trainwright_trainer.backends.ray.nodes import log_missing
from trainwright_trainer.callbacks.console import Console
from trainwright_trainer.callbacks.events import FunctionStarted, Listener, Reported
from trainwright_trainer.callbacks.formats import counted, duration, score
from trainwright_trainer.callbacks.reports import ReportsFile, reports_of
from trainwright_trainer.callbacks.run_files import BestEffort, tensorboard_of
from trainwright_trainer.errors import FUNCTION_DONE, StoppedRun
from trainwright_trainer.job.job import Job
from trainwright_trainer.job.train_function import folders_of, imported
from trainwright_trainer.job.versions import versions
from trainwright_trainer.rundir import layout, shared_files
from trainwright_trainer.rundir.attempt import Attempt, begin
from trainwright_trainer.rundir.preflight import ExistingRun
from trainwright_trainer.runtime.signals import StopRequest
from trainwright_trainer.storage.base import Storage
from trainwright_trainer.tasks.lifecycle import recording_outcome
from trainwright_trainer.tasks.result import TaskSummary

_EARLY = "before the train function began. Start it again."


def train_function(job: Job, storage: Storage, how: ExistingRun, console: Console, stop: StopRequest) -> TaskSummary:
    """Run one attempt. Writes the outcome, then raises the exceptions that `errors.py` lists."""
    entrypoint = job.spec.entrypoint
    assert entrypoint is not None
    with ExitStack() as early:
        early.enter_context(stop.at_once(_EARLY))
        folders = folders_of(job.path)
        imported(entrypoint, folders)  # for its mistakes, before anything is written
        alone = job.attempt is not None
        with cluster(job.spec.backend.trainer, job.given_workers, alone=alone, log=console.log) as needs:
            attempt = begin(
                storage, job.plain(), how, name=job.name, number=job.attempt, about={"versions": versions()}
            )
            with recording_outcome(lambda: attempt, FUNCTION_DONE):
                shared_files.write_job(attempt, job.written())
                console.log(f"starting {counted(needs.workers, 'worker')}")
                log_missing(needs, console.log)
                driver = FunctionDriver(job, attempt, needs.workers, console)
                early.close()
                function = FunctionSpec(entrypoint, folders, job.options.threads)
                if not run_function(needs, function, _kept(job, storage), driver.on_message, stop):
                    raise StoppedRun(driver.stopped_line(stop))
                return TaskSummary(driver.end())


def _kept(job: Job, storage: Storage) -> KeptCheckpoints:
    policy = job.spec.checkpoint
    return KeptCheckpoints(
        *storage.arrow(layout.RAY_TRAIN.rstrip("/")), policy.num_to_keep, score_attribute(job.spec), policy.score_order
    )


def without_score(attribute: str | None, metrics: Mapping[str, float], checkpoint: str | None) -> str:
    """The line about a reported checkpoint without the metric that ranks the checkpoints; "" for any other."""
    # With a slash, Ray Train also finds it in a nested dictionary, which is no number here.
    if attribute is None or checkpoint is None or attribute in metrics or "/" in attribute:
        return ""
    there = ", ".join(metrics) or "no number"
    return f"checkpoint.scoreAttribute: {checkpoint} ranks last, its report has no {attribute}; it has {there}"


class FunctionDriver:
    """Turns the messages of the workers into events, and keeps the reports."""

    def __init__(
        self, job: Job, attempt: Attempt, workers: int, console: Console, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._job, self._attempt, self._workers, self._console, self._clock = job, attempt, workers, console, clock
        self._reports = reports_of(attempt)
        self._began, self._before = clock(), 0.0
        self._has_told = False
        self._listeners: Sequence[Listener] = [
            BestEffort(ReportsFile(attempt, self._reports), layout.REPORTS, console.log, to_the_end=True),
            BestEffort(tensorboard_of(attempt), layout.LOGS, console.log, to_the_end=True),
        ]

    def on_message(self, message: Message) -> Any:
        """Handle one message. Raises the mistake that a worker has found."""
        match message.kind:
            case "log":
                self._console.log(*message.content)
            case "began":
                self._begin(message.content)
            case "reported":
                metrics, checkpoint = message.content
                self._pass_on(self._reports.add(self._seconds, metrics, checkpoint))
                self._tell_without_score(metrics, checkpoint)
            case "failed":
                rank, log = message.content
                self._console.log(*(f"rank {rank}: {one}" for one in log.rstrip().splitlines()))
            case "ended":
                _, end = message.content
                raise end.error()
        return None

    def stopped_line(self, stop: StopRequest) -> str:
        """The line after a stop request: where the function goes on."""
        newest = next((report.checkpoint for report in reversed(self._reports.all) if report.checkpoint), None)
        place = "it has reported no checkpoint" if newest is None else f"it goes on from {newest}"
        self._close()
        return f"stopped by {stop.reason}: {place}, with --resume"

    def end(self) -> str:
        """Print and return the last line."""
        self._close()
        reports = self._reports.all
        items = [f"done in {duration(self._seconds)}", counted(len(reports), "report"), *self._best()]
        if any(report.checkpoint for report in reports):
            items.append(f"checkpoints {self._job.output / layout.RAY_TRAIN.rstrip('/')}")
        line = " · ".join(items)
        self._console.log(line)
        return line

    def _best(self) -> list[str]:
        metric, order = score_attribute(self._job.spec), self._job.spec.checkpoint.score_order
        best = self._reports.best(metric, order) if metric else None
        if metric is None or best is None:
            return []
        return [f"best {metric} {score(best.metrics[metric])} (report {best.number:,})"]

    def _tell_without_score(self, metrics: Mapping[str, float], checkpoint: str | None) -> None:
        """Tell once that a checkpoint has no rank, as after a typing mistake."""
        line = without_score(score_attribute(self._job.spec), metrics, checkpoint)
        if line and not self._has_told:
            self._has_told = True
            self._console.log(line)

    def _begin(self, checkpoint: str | None) -> None:
        """The function begins, with this checkpoint to go on from. Repeated if Ray Train replaces the workers."""
        self._reports.go_on_from(checkpoint)
        entrypoint = self._job.spec.entrypoint
        assert entrypoint is not None
        kept = self._reports.all
        self._began, self._before = self._clock(), kept[-1].seconds if kept else 0.0
        epochs = entrypoint.config.get("epochs")
        self._pass_on(
            FunctionStarted(
                name=self._job.name,
                function=f"{entrypoint.module}.{entrypoint.function}",
                workers=self._workers,
                attempt=self._attempt.number,
                epochs=epochs if isinstance(epochs, int) and epochs > 0 else None,
                metric=score_attribute(self._job.spec),
                checkpoint=checkpoint,
                reports=len(kept),
            )
        )

    @property
    def _seconds(self) -> float:
        return self._before + self._clock() - self._began

    def _pass_on(self, event: FunctionStarted | Reported) -> None:
        for listener in self._listeners:
            listener.on_event(event)
        self._console.on_event(event)

    def _close(self) -> None:
        for listener in self._listeners:
            listener.close()
