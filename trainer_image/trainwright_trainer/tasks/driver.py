"""The driver of a run on Ray. It starts the workers, begins the attempt, handles messages and records the outcome."""

from __future__ import annotations

import os
from collections.abc import Collection
from contextlib import ExitStack
from dataclasses import replace
from typing import Any

from trainwright_trainer.backends.ray.cluster import cluster
from trainwright_trainer.backends.ray.fit import on_workers
from trainwright_trainer.backends.ray.messages import Message
from trainwright_trainer.backends.ray.nodes import log_missing
from trainwright_trainer.backends.ray.processors import check_processor, prepares_before_workers, processor_of_worker
from trainwright_trainer.callbacks.console import Console
from trainwright_trainer.callbacks.formats import counted
from trainwright_trainer.errors import EnvironmentFailure, Outcome
from trainwright_trainer.job.job import Job
from trainwright_trainer.loop.row_log import VARIABLE as ROW_LOG
from trainwright_trainer.rundir.attempt import Attempt, AttemptReference
from trainwright_trainer.rundir.preflight import ExistingRun
from trainwright_trainer.runtime.signals import StopRequest
from trainwright_trainer.storage.base import Storage
from trainwright_trainer.strategies import check_installed
from trainwright_trainer.tasks.lifecycle import begin_attempt, recording_outcome
from trainwright_trainer.tasks.preprocess_on_ray import check_data_here, fill_before_workers
from trainwright_trainer.tasks.result import Result
from trainwright_trainer.tasks.worker import WorkerSpec, work

_EARLY = "before training began: nothing was written but the cache. Start it again."


def train_on_ray(job: Job, storage: Storage, how: ExistingRun, console: Console, stop: StopRequest) -> Result:
    """Run one attempt on workers. Writes the outcome, then raises the exceptions that `errors.py` lists.

    Raises `Mistakes` before anything starts, if the library of the strategy or of the processor is not installed, and
    on this machine also those of the data set.
    """
    check_installed(job.spec.backend.strategy)
    check_processor(job.spec.backend.processor)
    with ExitStack() as early:
        early.enter_context(stop.at_once(_EARLY))
        check_data_here(job)
        alone = job.attempt is not None
        with cluster(job.spec.backend.trainer, job.given_workers, alone=alone, log=console.log) as needs:
            driver = Driver(replace(job, workers=needs.workers), storage, how, console, early)
            if prepares_before_workers(job.spec.backend.processor):
                driver.logged = fill_before_workers(job, console)
            console.log(f"starting {counted(needs.workers, 'worker')}")
            log_missing(needs, console.log)
            with recording_outcome(lambda: driver.attempt):
                on_workers(needs, work, driver.worker_spec(), driver.on_message, stop)
                return driver.result()


class Driver:
    """Handles the messages of the workers. `early` is closed when the attempt begins. `logged`: lines of the workers
    that are in the log already.
    """

    def __init__(self, job: Job, storage: Storage, how: ExistingRun, console: Console, early: ExitStack) -> None:
        self._job, self._storage, self._how, self._console, self._early = job, storage, how, console, early
        self.attempt: Attempt | None = None
        self.logged: Collection[str] = ()
        self._ends: dict[int, Result | Outcome] = {}

    def worker_spec(self) -> WorkerSpec:
        inherited = {name: os.environ[name] for name in (ROW_LOG,) if name in os.environ}
        return WorkerSpec(self._job, inherited, processor_of_worker)

    def on_message(self, message: Message) -> Any:
        """Handle one message. Returns the reply, or None if the worker does not wait for one."""
        match message.kind:
            case "log":
                self._console.log(*(line for line in message.content if line not in self.logged))
            case "event":
                self._console.on_event(message.content)
            case "ended":
                rank, end = message.content
                self._ends[rank] = end
            case "ready":
                return self._begin(message.content)
        return None

    def result(self) -> Result:
        """The result from the lowest rank that reported an end, rank 0 if it did. Raises that worker's exception.

        Raises `EnvironmentFailure` if no worker reported an end.
        """
        if not self._ends:
            raise EnvironmentFailure("the workers ended, and none of them reported why")
        end = self._ends[min(self._ends)]
        if isinstance(end, Outcome):
            raise end.error()
        return end

    def _begin(self, content: str | None) -> AttemptReference | Outcome:
        """Begin the attempt. Later calls, from restarted workers, return a reference to the same attempt."""
        self._early.close()
        try:
            self.attempt = self.attempt or self._attempt(content)
        except Exception as error:  # the worker that waits for the reply reports it as its end
            return Outcome.traced(error)
        return AttemptReference.of(self.attempt)

    def _attempt(self, content: str | None) -> Attempt:
        """A new attempt. Its checkpoint is verified, and the workers read it."""
        return replace(begin_attempt(self._job, self._storage, self._how, content, self._console.log), notices=())
