"""Run a search with Ray Tune, on the Ray that `room.connected` has found or started."""

from __future__ import annotations

import io
import logging
import os
import time
from collections.abc import Callable
from contextlib import redirect_stdout
from dataclasses import dataclass, field, replace
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import ray
from ray import tune
from ray.actor import ActorHandle
from ray.exceptions import RayError

from trainwright_api.config.hyperopt import HyperoptConfig, RayExecutor
from trainwright_trainer.backends.ray.nodes import STOP_REASON_OF_DRAIN, Nodes
from trainwright_trainer.callbacks.console import Console
from trainwright_trainer.errors import Outcome, losing
from trainwright_trainer.runtime.signals import StopRequest
from trainwright_trainer.search.log import SearchLog
from trainwright_trainer.search.ray_tune.channel import EVERY_SECONDS, listening, opened
from trainwright_trainer.search.ray_tune.hooks import METRIC, Closing, Recoveries
from trainwright_trainer.search.ray_tune.methods import methods_of
from trainwright_trainer.search.ray_tune.room import cpus_and_gpus, resources
from trainwright_trainer.search.ray_tune.trainable import Process, trainable
from trainwright_trainer.search.trial_run import TrialSetting, TrialStop, train
from trainwright_trainer.search.trials import Trial
from trainwright_trainer.storage.base import Storage

# The process of a trial may be lost so often: it starts again from its checkpoint.
_MOST_LOSSES = 3


@dataclass(frozen=True)
class Search:
    """A search to run. `seed`: the job's; `tick` is called often, on the main thread."""

    config: HyperoptConfig
    setting: TrialSetting
    storage: Storage
    log: SearchLog
    seed: int
    stop: StopRequest
    tick: Callable[[], None]
    notice: Callable[[str], None]
    channel: ActorHandle[Any] = field(default_factory=opened)
    nodes: Nodes = field(default_factory=Nodes)

    @property
    def process(self) -> Process:
        return Process(os.getcwd(), has_gpu=not self.is_alone or self.executor.gpu_resources_per_trial > 0)

    @property
    def is_alone(self) -> bool:
        """True if a trial is one process, and no gang of workers."""
        return self.setting.backend == "local"

    @property
    def executor(self) -> RayExecutor:
        return self.config.executor

    def without_limit(self) -> Search:
        """The search after its time budget, for the last work on its best trial: only a stop request closes it."""
        executor = self.executor.model_copy(update={"time_budget_s": None})
        return replace(self, config=self.config.model_copy(update={"executor": executor}), channel=opened())

    def is_closing(self) -> bool:
        """True if no trial may begin or end any more: after a stop request, and when the time is over."""
        budget = self.executor.time_budget_s
        return bool(self.stop) or (budget is not None and self.log.seconds >= budget)

    def on_tick(self) -> None:
        self.tick()
        self.tell_trials()

    def tell_trials(self) -> None:
        """Tell the trials that the search closes, and those of a node that it will go. The driver's own node stops all.

        `ray start` receives the signal of its node, and marks the node as draining.
        """
        draining = self.nodes.newly_draining(time.monotonic())
        if self.nodes.here in draining:
            self.stop.ask(STOP_REASON_OF_DRAIN)
        elif draining:
            self.channel.leave.remote(sorted(draining))
        if self.is_closing():
            self.channel.stop.remote(self.stop.reason or "the time budget")


def run(search: Search, concurrent: int) -> None:
    """Run all trials, or continue them. Returns when they have ended, and early after a stop request."""
    executor, setting = search.executor, search.setting
    methods = methods_of(
        search.config, setting, search.storage, search.log, search.seed, concurrent, search.channel, search.is_closing
    )
    # The traceback of a lost process. `Recoveries` has the line for it.
    logging.getLogger("ray.tune").setLevel(logging.CRITICAL)
    # The brackets of a scheduler are drawn from this generator.
    np.random.seed(search.seed % 2**32)
    # Tune prints lines of its own, whatever its verbosity. The displays hold the stream, and are not redirected.
    with TemporaryDirectory(prefix="trainwright-tune-") as folder, redirect_stdout(io.StringIO()):
        tune.Tuner(
            tune.with_resources(
                tune.with_parameters(trainable, setting=setting, process=search.process, channel=search.channel),
                resources(executor, concurrent, is_alone=search.is_alone),
            ),
            tune_config=tune.TuneConfig(
                metric=METRIC,
                mode=setting.objective.mode,
                search_alg=methods.searcher,
                scheduler=methods.scheduler,
                num_samples=methods.number,
                max_concurrent_trials=None if executor.scheduler.pauses else concurrent,
                reuse_actors=True,
            ),
            run_config=tune.RunConfig(
                name="search",
                storage_path=folder,
                stop=Closing(search.on_tick, search.is_closing),
                callbacks=[Recoveries(search.notice)],
                failure_config=tune.FailureConfig(max_failures=_MOST_LOSSES),
                verbose=0,
            ),
        ).fit()


def finish(search: Search, trial: Trial) -> Outcome:
    """Train a trial that has been stopped to its end, in a process like those of the trials.

    Raises `EnvironmentFailure` if the process is lost too often.
    """
    search = search.without_limit()
    cpus, gpus = cpus_and_gpus(search.executor, is_alone=search.is_alone)
    remote = ray.remote(num_cpus=cpus, num_gpus=gpus, max_retries=_MOST_LOSSES)(_finish)
    waiting = remote.remote(search.setting, trial, search.process, search.channel)
    while not ray.wait([waiting], timeout=EVERY_SECONDS)[0]:
        search.tell_trials()
    with losing(f"the process of trial {trial.id}", (RayError,)):
        found: Outcome = ray.get(waiting)
    return found


def _finish(setting: TrialSetting, trial: Trial, process: Process, channel: ActorHandle[Any]) -> Outcome:
    process.prepare(setting.threads)
    stop = TrialStop()
    try:
        with listening(channel, stop.ask_from_a_thread):
            train(setting, trial.id, trial.values, Console(quiet=True), stop, trial.origin)
    except Exception as error:  # the driver raises it
        return Outcome.of(error)
    return Outcome("done", "")
