"""The second half of a run: load → train → evaluate → save → report. All its files lie in one run folder."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from dataclasses import replace
from functools import partial
from typing import Protocol, cast

import torch

from trainwright_api.problems import Mistakes
from trainwright_trainer.analysis.baselines import check_baselines
from trainwright_trainer.analysis.subject import Subject
from trainwright_trainer.backends.local import local
from trainwright_trainer.callbacks import formats
from trainwright_trainer.callbacks.console import Console
from trainwright_trainer.callbacks.decisive import UndefinedMetric
from trainwright_trainer.callbacks.events import Listener, Scores
from trainwright_trainer.callbacks.run_files import BestEffort, MetricsFile, Relay, tensorboard_of
from trainwright_trainer.data.prepared import Prepared
from trainwright_trainer.distributed import ranks_of
from trainwright_trainer.distributed.rank_info import RankInfo
from trainwright_trainer.distributed.ranks import Ranks
from trainwright_trainer.encoders.inputs import tied_lines
from trainwright_trainer.encoders.stored import check_stored
from trainwright_trainer.errors import StoppedRun
from trainwright_trainer.job.batching import Batching
from trainwright_trainer.job.job import Job
from trainwright_trainer.job.recipe import settled
from trainwright_trainer.job.resume_command import resume_command
from trainwright_trainer.job.source import ModelSource
from trainwright_trainer.loader.interface import Loader
from trainwright_trainer.loader.layout import layout_of
from trainwright_trainer.loader.load import epoch_order_of, loaders, with_windows
from trainwright_trainer.loop.arguments import Hooks, TrainingArguments, TrainingResult, check
from trainwright_trainer.loop.calibration import calibrate, check_calibration
from trainwright_trainer.loop.evaluator import evaluate
from trainwright_trainer.loop.monitor import check_plateau, check_tells
from trainwright_trainer.loop.trainer import Trainer
from trainwright_trainer.metrics.figures import figures_of
from trainwright_trainer.metrics.model import ModelMetrics, model_metrics
from trainwright_trainer.models.frozen import NONE, GivenWeights
from trainwright_trainer.models.model import DTYPES, Model
from trainwright_trainer.report.data import OutputFigures
from trainwright_trainer.rundir import layout as names
from trainwright_trainer.rundir import shared_files
from trainwright_trainer.rundir.preflight import ExistingRun
from trainwright_trainer.rundir.writer import CheckpointWriter
from trainwright_trainer.runtime.oom import reporting_oom
from trainwright_trainer.runtime.products import compute_products_in
from trainwright_trainer.runtime.signals import StopRequest
from trainwright_trainer.runtime.threads import Threads, keeping_threads
from trainwright_trainer.storage.base import Storage
from trainwright_trainer.strategies import check_installed, engine_for
from trainwright_trainer.tasks import artifacts
from trainwright_trainer.tasks.embeddings import with_embeddings
from trainwright_trainer.tasks.job_data import raw_data
from trainwright_trainer.tasks.lifecycle import begin_attempt, recording_outcome
from trainwright_trainer.tasks.report_analyses import Analyses, AnalysisSettings, analyses
from trainwright_trainer.tasks.resolve import (
    Resolved,
    TrainContext,
    given_batching,
    resolved_once,
    started,
    threads_once,
    window_of,
)
from trainwright_trainer.tasks.result import Result
from trainwright_trainer.tasks.tracking import tracker_of
from trainwright_trainer.tasks.tracking_address import check_tracking

EARLY = "before training began: nothing was written but the cache. Start it again."
TOO_LARGE = (
    "the trained model does not fit on one GPU: its shards compute the test scores, and the CPU the report's analyses"
)


def train_on(
    data: Prepared, job: Job, storage: Storage, how: ExistingRun, console: Console, stop: StopRequest
) -> Result:
    """Run one attempt, from encoded columns to the report. Writes the outcome, then raises as `errors.py` lists.

    Errors that can be found before the first step are raised before the attempt begins.
    """
    trainer = job.spec.backend.trainer
    check_installed(job.spec.backend.strategy)
    rank_info = local(job.cpus or (trainer.resources_per_worker or {}).get("CPU"), use_gpu=trainer.use_gpu)
    ranks = ranks_of(rank_info)
    with stop.at_once(EARLY):
        ready, data, model, parts = prepare_training(data, job, ranks, console.log)
    # start.json holds the job as the user gives it: a resumed run is compared with that, not with the recipe.
    attempt = begin_attempt(job, storage, how, data.content or None, console.log)
    with recording_outcome(lambda: attempt), reporting_oom():
        assert ready.config is not None
        context = TrainContext(ready.config, ready, data, attempt, threads_of(job, rank_info))
        return Training(context, ranks, console, stop).run(model, parts)


def prepare_training(
    data: Prepared, job: Job, ranks: Ranks, log: Callable[[str], None]
) -> tuple[Job, Prepared, Model, dict[str, Loader]]:
    """The job with its recipe, if the file has no trainer section, the data with the embeddings of frozen encoders, the
    model and the loaders of its parts.

    Raises the errors that can be found before the attempt begins.
    """
    given, config = job.spec.config, job.config
    check_tracking(job)
    assert given is not None
    assert config is not None
    compute_products_in(config.trainer.precision)
    source = weights_of_source(job, data)
    data, frozen = with_embeddings(data, config, job.spec.seed, ranks, log, source)
    layout = layout_of(config, data.statistics)
    order = epoch_order_of(config, layout, job.spec.seed, window_of(job, config, data))
    parts = loaders(data, layout, DTYPES[config.trainer.precision], order, ranks.device, ranks)
    model = Model(config, data.statistics, layout, job.spec.seed)
    check_stored(model.encoders)
    model.frozen = frozen
    taken = begin_with_source(model, job, source)
    width = model.encoders.output_size
    config, recipe = settled(given, config, len(parts["train"]), len(parts["validation"]), width)
    job = replace(job, config=config, recipe=recipe, taken=taken)
    check(config, model, given_batching(job, model), ranks.world)
    check_tells(config, data.statistics)
    check_calibration(config, len(parts["validation"]))
    check_plateau(config.trainer, {name: len(loader) for name, loader in parts.items()})
    check_baselines(job.spec.report.baselines)
    return job, data, model, parts


def weights_of_source(job: Job, data: Prepared) -> GivenWeights:
    """The weights of the job's source, if that is a model."""
    source = job.source
    if not isinstance(source, ModelSource):
        return NONE
    return GivenWeights(source.weights(job.keys.artifacts), source.unfit(data.statistics))


def begin_with_source(model: Model, job: Job, given: GivenWeights) -> str:
    """Give the model the weights of the job's source, if that is a model. Returns one line about them, else "".

    Raises `Mistakes` if no weight fits.
    """
    if not isinstance(job.source, ModelSource):
        return ""
    found = model.begin_with(*given)
    line = found.line(job.source.location)
    if not found.taken:
        raise Mistakes.one("resumeFrom", line)
    return line


def threads_of(job: Job, rank_info: RankInfo) -> Threads:
    """The threads of this process. `--threads` overrides OMP_NUM_THREADS."""
    return Threads(rank_info.cpus, job.options.threads or rank_info.threads)


class AnyConsole(Listener, Protocol):
    """A console: the local one, or the remote one of a worker."""

    def log(self, *lines: str) -> None: ...


class AnyStopRequest(Protocol):
    """A stop request. It is true once a stop is requested; `reason` names the source of the request."""

    @property
    def reason(self) -> str | None: ...

    def __bool__(self) -> bool: ...


class Training:
    """One attempt on one rank: resolve → train → evaluate → save → report. Only rank 0 writes to the run folder."""

    def __init__(
        self,
        context: TrainContext,
        ranks: Ranks,
        console: AnyConsole,
        stop: AnyStopRequest,
        saves: Callable[[], int] = int,
    ) -> None:
        """`saves` returns the number of checkpoints requested so far."""
        self.context, self.ranks, self.console, self.stop, self.saves = context, ranks, console, stop, saves
        self.config, self.job, self.attempt = context.config, context.job, context.attempt
        self.is_rank_zero = ranks.rank == 0
        self.metrics_file = MetricsFile(self.attempt)

    def run(self, model: Model, parts: Mapping[str, Loader]) -> Result:
        context = self.context
        if self.is_rank_zero:
            self._write_job()
        resolved = resolved_once(context, model, parts["train"], self.ranks, self.console.log)
        parts = with_windows(parts, resolved.window_rows)
        with keeping_threads(), closing(self._relay()) as relay:
            fitted, evaluated = self._train(model, parts, resolved, relay)
            model.decoders.set_temperatures(self._calibrate(evaluated, parts, resolved.batching))
            test, metrics = self._test(evaluated, parts, resolved.batching)
            figures = figures_of(metrics) if self.is_rank_zero else []
            end = artifacts.ended(context, fitted, test, figures)
            if self.is_rank_zero and not self.attempt.superseded():  # `recording_outcome` says it
                artifacts.save_model(context, model)
                found = self._analyses(model, metrics, figures, resolved.batching)
                artifacts.write_report(context, self.metrics_file.history, found, end)
                relay.on_event(end)
        if self.is_rank_zero:
            self.console.log(*context.data.finish())
        return artifacts.result_of(context, fitted, end)

    def _write_job(self) -> None:
        """Write job.yaml, and log what the file does not say: the recipe, and the weights to begin with."""
        shared_files.write_job(self.attempt, self.job.written())
        if self.job.recipe is not None:
            self.console.log(self.job.recipe.line)
        if self.attempt.start_from is not None:
            return
        if self.job.taken:
            self.console.log(f"resumeFrom: {self.job.taken}")
        self.console.log(*tied_lines(self.config.input_features, self.context.data.statistics))

    def _relay(self) -> Relay:
        """The listeners of this rank."""
        if not self.is_rank_zero:
            return Relay([])
        logs, log = tensorboard_of(self.attempt), self.console.log
        metrics = BestEffort(self.metrics_file, names.METRICS, log, to_the_end=False)
        others = tracker_of(self.job, self.config, self.attempt, log)
        shown: list[Listener] = [self.console, UndefinedMetric(log)]
        return Relay([*shown, metrics, BestEffort(logs, names.LOGS, log, to_the_end=True), *others])

    def _writer(self, relay: Relay) -> CheckpointWriter:
        attempt, start = self.attempt, self.attempt.start_from
        return CheckpointWriter(
            attempt.storage,
            attempt.fence,
            self.job.spec.checkpoint,
            relay.checkpointed,
            self.ranks.beside(),
            best=start.best if start is not None and attempt.wrote(start) else None,
        )

    def _train(
        self, model: Model, parts: Mapping[str, Loader], resolved: Resolved, relay: Relay
    ) -> tuple[TrainingResult, Model]:
        """Train to the end. Also returns the model that all ranks can evaluate: `model`, if it fits on their devices.

        Raises `StoppedRun` after a stop request, when the checkpoint is written.
        """
        job, policy, start = self.job, self.job.spec.checkpoint, self.attempt.start_from
        tolerance = job.recipe.tolerance if job.recipe else 0.0
        batching = resolved.batching
        arguments = TrainingArguments(self.config, batching, job.spec.seed, policy, self.attempt.number, tolerance)
        with closing(self._writer(relay)) as writer:
            trainer = Trainer(
                replace(arguments, time_limit=job.options.time_limit),
                model,
                parts,
                partial(model_metrics, self.config, self.context.data.statistics),
                ranks=self.ranks,
                make_engine=engine_for(job.strategy_section, self.ranks),
                hooks=Hooks([relay], writer, self.stop.__bool__, self.saves),
                resume=start,
            )
            threads = threads_once(self.context, resolved, cast(Model, trainer.model), parts["train"], self.ranks)
            torch.set_num_threads(threads)
            relay.on_event(started(self.context, parts, resolved, threads, self.ranks.world))
            result = trainer.train()
            if result.outcome.kind == "stopped":
                writer.flush()
                raise StoppedRun(self._stopped_line(result))
        if result.is_whole:
            return result, model
        if self.is_rank_zero:
            self.console.log(TOO_LARGE)
        return result, cast(Model, trainer.model)

    def _calibrate(self, model: Model, parts: Mapping[str, Loader], batching: Batching) -> Mapping[str, float]:
        """Fit and return the temperatures of the outputs with `calibration`, for the best weights."""
        found = calibrate(model, parts["validation"], batching.pass_rows, self.ranks)
        if self.is_rank_zero and found:
            rows = formats.count(len(parts["validation"]))
            each = ", ".join(f"{name} {temperature:.4g}" for name, temperature in found.items())
            self.console.log(f"calibration: temperature {each}, from {rows} validation rows")
        return found

    def _test(self, model: Model, parts: Mapping[str, Loader], batching: Batching) -> tuple[Scores, ModelMetrics]:
        """The scores of the best weights on the test rows; empty if evaluation is off or there are no test rows."""
        metrics = model_metrics(self.config, self.context.data.statistics, figures=True)
        if self.config.trainer.skip_all_evaluation or not len(parts["test"]):
            return {}, metrics
        return evaluate(model, parts["test"], batching.pass_rows, metrics, ranks=self.ranks), metrics

    def _analyses(
        self, model: Model, metrics: ModelMetrics, figures: Sequence[OutputFigures], batching: Batching
    ) -> Analyses:
        """The analyses of the report. They cost time after training alone, at most `report.maxSeconds`."""
        job, device = self.job, next(model.parameters()).device
        subject = Subject(model, self.config, self.context.data, job.spec.seed, batching.pass_rows, device)
        policy = job.spec.report
        settings = AnalysisSettings(policy.max_seconds, self.console.log, self.stop.__bool__, policy.baselines)
        return analyses(subject, partial(raw_data, job), metrics, figures, settings)

    def _stopped_line(self, result: TrainingResult) -> str:
        """The line for a stopped run; outside a pod with the command that resumes it."""
        position = result.position
        where = f"epoch {position.epoch + 1}, row {formats.count(position.rows)}"
        if self.job.attempt is not None:
            return f"stopped by {self.stop.reason} at {where}; checkpoint written"
        command = resume_command(self.job)
        return f"stopped by {self.stop.reason} at {where}; checkpoint written. Go on with: {command}"
