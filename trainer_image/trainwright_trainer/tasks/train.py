"""The second half of a run: load → train → evaluate → save → report. All its files lie in one run folder."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Mapping
from contextlib import closing
from dataclasses import replace
from functools import partial
from typing import Protocol

from trainwright_api.resource.job import CheckpointPolicy
from trainwright_trainer.backends.local import local
from trainwright_trainer.callbacks import formats
from trainwright_trainer.callbacks.console import Console
from trainwright_trainer.callbacks.events import Listener, Scores
from trainwright_trainer.callbacks.run_files import BestEffort, MetricsFile, Relay, tensorboard_of
from trainwright_trainer.data.prepared import Prepared
from trainwright_trainer.distributed.rank_info import RankInfo
from trainwright_trainer.errors import StoppedRun
from trainwright_trainer.job.batching import Batching
from trainwright_trainer.job.job import Job
from trainwright_trainer.job.recipe import settled
from trainwright_trainer.loader.layout import layout_of
from trainwright_trainer.loader.materialised import Split, materialise
from trainwright_trainer.loop.evaluation import evaluate
from trainwright_trainer.loop.fit import Result as Fitted
from trainwright_trainer.loop.fit import check, train
from trainwright_trainer.loop.monitor import check_tells
from trainwright_trainer.metrics.figures import figures_of
from trainwright_trainer.metrics.model import ModelMetrics, model_metrics
from trainwright_trainer.models.model import DTYPES, Model
from trainwright_trainer.rundir import layout as names
from trainwright_trainer.rundir import shared_files
from trainwright_trainer.rundir.preflight import ExistingRun
from trainwright_trainer.rundir.writer import CheckpointWriter
from trainwright_trainer.runtime.oom import reporting_oom
from trainwright_trainer.runtime.signals import StopRequest
from trainwright_trainer.runtime.threads import Threads, computing_with
from trainwright_trainer.storage.base import Storage
from trainwright_trainer.strategies import strategy_for
from trainwright_trainer.strategies.interface import Strategy
from trainwright_trainer.tasks import artifacts
from trainwright_trainer.tasks.lifecycle import begin_attempt, told_in_the_folder
from trainwright_trainer.tasks.resolve import Derived, given_batching, resolved_once, started
from trainwright_trainer.tasks.result import Result
from trainwright_trainer.tasks.train_context import TrainContext


def train_on(
    data: Prepared, job: Job, storage: Storage, how: ExistingRun, console: Console, stop: StopRequest
) -> Result:
    """Run one attempt, from encoded columns to the report. Writes the outcome, then raises as `errors.py` lists.

    Errors that can be found before the first step are raised before the attempt begins.
    """
    ready, model, splits = made_ready(data, job)
    attempt = begin_attempt(job, storage, how, data.content or None, console.say)
    rank_info = local(job.cpus)
    strategy = strategy_for(job.spec.backend.strategy, rank_info.world, rank_info.device)
    with told_in_the_folder(lambda: attempt), reporting_oom():
        assert ready.config is not None
        material = TrainContext(ready.config, ready, data, attempt, threads_of(job, rank_info))
        return Training(material, strategy, console, stop).run(model, splits)


def threads_of(job: Job, rank_info: RankInfo) -> Threads:
    """The threads of this process. `--threads` overrides OMP_NUM_THREADS."""
    return Threads(rank_info.cpus, job.options.threads or rank_info.threads)


def made_ready(data: Prepared, job: Job, world: int = 1) -> tuple[Job, Model, dict[str, Split]]:
    """The job with its recipe, if it needs one, its model and its splits.

    Raises the errors that can be found before the attempt begins.
    """
    assert job.config is not None
    layout = layout_of(job.config, data.statistics)
    splits = materialise(data, layout, DTYPES[job.config.trainer.precision])
    job = settled_job(job, splits)
    assert job.config is not None
    model = Model(job.config, data.statistics, layout, job.spec.seed)
    check(job.config, model, given_batching(job, model), world)
    check_tells(job.config, data.statistics)
    return job, model, splits


def settled_job(job: Job, splits: Mapping[str, Split]) -> Job:
    """The job as it is trained. It gets a recipe if the file has no trainer section."""
    given, config = job.spec.config, job.config
    assert given is not None
    assert config is not None
    config, found = settled(given, config, len(splits["train"]), len(splits["validation"]))
    return replace(job, config=config, recipe=found)


class Audience(Listener, Protocol):
    """A console: the local one, or the remote one of a worker."""

    def say(self, *lines: str) -> None: ...


class Stop(Protocol):
    """A stop request. It is true once a stop is requested; `reason` names the source of the request."""

    @property
    def reason(self) -> str | None: ...

    def __bool__(self) -> bool: ...


class Training:
    """The parts of one attempt, in the order in which `run` uses them. Only rank 0 writes to the run folder."""

    def __init__(
        self, material: TrainContext, strategy: Strategy, console: Audience, stop: Stop, saves: Callable[[], int] = int
    ) -> None:
        """`saves` returns the number of checkpoints requested so far."""
        self.material, self.strategy, self.console, self.stop, self.saves = material, strategy, console, stop, saves
        self.config, self.job, self.attempt = material.config, material.job, material.attempt
        self.keeps = strategy.rank == 0
        self.metrics_file = MetricsFile(self.attempt)

    def run(self, model: Model, splits: dict[str, Split]) -> Result:
        material = self.material
        if self.keeps:
            shared_files.write_job(self.attempt, self.job.written())
        model = model.to(self.strategy.device)
        if self.keeps and self.job.recipe is not None:
            self.console.say(self.job.recipe.line)
        found = resolved_once(material, model, splits["train"], self.strategy, self.console.say)
        with computing_with(found.threads), closing(self._relay()) as relay:
            fitted = self._fit(model, splits, found, relay)
            test, metrics = self._test(model, splits, found.batching)
            figures = figures_of(metrics) if self.keeps else []
            end = artifacts.ended(material, fitted, test, figures)
            if self.keeps:
                artifacts.save_model(material, model)
                artifacts.write_report(material, self.metrics_file.history, figures, end)
            relay.on_event(end)
        if self.keeps:
            self.console.say(*material.data.finish())
        return artifacts.result_of(material, fitted, end)

    def _relay(self) -> Relay:
        if not self.keeps:
            return Relay([])
        logs, say = tensorboard_of(self.attempt), self.console.say
        metrics = BestEffort(self.metrics_file, names.METRICS, say, to_the_end=False)
        return Relay([self.console, metrics, BestEffort(logs, names.LOGS, say, to_the_end=True)])

    def _fit(self, model: Model, splits: dict[str, Split], found: Derived, relay: Relay) -> Fitted:
        policy: CheckpointPolicy = self.job.spec.checkpoint
        told = relay.checkpointed
        writer = CheckpointWriter(self.attempt.storage, self.attempt.fence, policy, told) if self.keeps else None
        start = self.attempt.start_from
        relay.on_event(started(self.material, splits, found, self.strategy.world))
        try:
            fitted = train(
                self.config,
                model,
                splits,
                partial(model_metrics, self.config, self.material.data.statistics),
                seed=self.job.spec.seed,
                batching=found.batching,
                checkpoints=writer,
                policy=policy,
                listeners=[relay],
                strategy=self.strategy,
                resume=start.snapshot if start else None,
                stop=self.stop.__bool__,
                saves=self.saves,
                attempt=self.attempt.number,
                tolerance=self.job.recipe.tolerance if self.job.recipe else 0.0,
            )
            if fitted.reason == "stopped":
                if writer is not None:
                    writer.flush()
                raise StoppedRun(self._how_to_go_on(fitted))
        finally:
            if writer is not None:
                writer.close()
        return fitted

    def _how_to_go_on(self, fitted: Fitted) -> str:
        position = fitted.position
        where = f"epoch {position.epoch + 1}, row {formats.count(position.rows)}"
        if self.job.attempt is not None:
            return f"stopped by {self.stop.reason} at {where}; checkpoint written"
        options = {name: getattr(self.job.options, name) for name in ("dataset", "backend", "seed", "threads")}
        given = [word for name, value in options.items() if value is not None for word in (f"--{name}", str(value))]
        words = ["trainwright", self.job.task, str(self.job.path), *given, "--output", str(self.job.output), "--resume"]
        return f"stopped by {self.stop.reason} at {where}; checkpoint written. Go on with: {shlex.join(words)}"

    def _test(self, model: Model, splits: Mapping[str, Split], batches: Batching) -> tuple[Scores, ModelMetrics]:
        """The scores of the best weights on the test rows; empty if evaluation is off or there are no test rows."""
        metrics = model_metrics(self.config, self.material.data.statistics, figures=True)
        if self.config.trainer.skip_all_evaluation or not len(splits["test"]):
            return {}, metrics
        return evaluate(model, splits["test"], batches.pass_rows, metrics, strategy=self.strategy), metrics
