"""The second half of the story: load → train → evaluate → save → report. Everything here lies in one run folder."""

from __future__ import annotations

import shlex
import traceback
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager, suppress
from functools import partial
from typing import Any

import torch

from trainwright_api.config import ModelConfig
from trainwright_api.job import CheckpointPolicy
from trainwright_trainer.backends import BACKENDS
from trainwright_trainer.batch_size_search import fastest_batch_size
from trainwright_trainer.batching import Batching, batching, needs_search, search_limit
from trainwright_trainer.data.prepared import Prepared
from trainwright_trainer.errors import EnvironmentFailure, StoppedRun
from trainwright_trainer.job import Job
from trainwright_trainer.layers.normalisation import has_batch_norm
from trainwright_trainer.listeners import Dispensable, MetricsFile, Relay
from trainwright_trainer.loader.layout import layout_of
from trainwright_trainer.loader.materialised import Split, materialise, sizes
from trainwright_trainer.loop.decisive import decisive, own_metrics
from trainwright_trainer.loop.evaluation import evaluate
from trainwright_trainer.loop.plan import plan
from trainwright_trainer.loop.train import Result as Fitted
from trainwright_trainer.loop.train import check, train
from trainwright_trainer.memory import memory_told
from trainwright_trainer.metrics.figures import figures_of
from trainwright_trainer.metrics.model import ModelMetrics, model_metrics
from trainwright_trainer.model import DTYPES, Model
from trainwright_trainer.progress import formats
from trainwright_trainer.progress.events import Ended, Started
from trainwright_trainer.progress.tensorboard import TensorBoardLog
from trainwright_trainer.report.data import ReportData
from trainwright_trainer.report.page import render
from trainwright_trainer.result import Result
from trainwright_trainer.rundir import layout as names
from trainwright_trainer.rundir import model_folder, outcome, shared_files
from trainwright_trainer.rundir.attempt import Attempt, begin
from trainwright_trainer.rundir.outcome import Outcome
from trainwright_trainer.rundir.place import How
from trainwright_trainer.rundir.storage import Storage
from trainwright_trainer.rundir.writer import CheckpointWriter
from trainwright_trainer.screen import Screen
from trainwright_trainer.signals import StopRequest
from trainwright_trainer.summaries import feature_summaries
from trainwright_trainer.versions import versions


def train_on(data: Prepared, job: Job, storage: Storage, how: How, screen: Screen, stop: StopRequest) -> Result:
    """One attempt, from encoded columns to the report. Raises what `errors.py` lists, after writing the outcome.

    What can be known to be wrong before the first step is raised before there is an attempt.
    """
    assert job.config is not None
    layout = layout_of(job.config, data.statistics)
    splits = materialise(data, layout, DTYPES[job.config.trainer.precision])
    model = Model(job.config, data.statistics, layout, job.spec.seed)
    check(job.config, model, _given_batching(job, model))
    attempt = begin(storage, job.plain(), how, name=job.name, content=data.content or None, versions=versions())
    screen.say(*attempt.notices)
    with _told_in_the_folder(attempt), memory_told():
        return Training(data, job, attempt, screen, stop).run(model, splits)


def _given_batching(job: Job, model: Model) -> Batching | None:
    """None where the batch size is to be searched for."""
    assert job.config is not None
    trainer = job.config.trainer
    return None if needs_search(trainer) else batching(trainer, job.workers, whole=has_batch_norm(model))


@contextmanager
def _told_in_the_folder(attempt: Attempt) -> Iterator[None]:
    """Whatever ends the attempt, outcome.json says it; a user's second interrupt is as a kill."""
    try:
        yield
    except Exception as error:
        with suppress(EnvironmentFailure):  # the first failure is the one to tell
            outcome.write(attempt.storage, attempt.number, Outcome.of(error, traceback.format_exc().splitlines()))
        raise
    outcome.write(attempt.storage, attempt.number, Outcome("done", "the model is there"))


class Training:
    """The parts of one attempt, in the order in which `run` uses them."""

    def __init__(self, data: Prepared, job: Job, attempt: Attempt, screen: Screen, stop: StopRequest) -> None:
        assert job.config is not None
        self.config: ModelConfig = job.config
        self.data, self.job, self.attempt, self.screen, self.stop = data, job, attempt, screen, stop
        self.strategy = BACKENDS[job.spec.backend.type]()
        self.metrics_file = MetricsFile(attempt)

    def run(self, model: Model, splits: dict[str, Split]) -> Result:
        shared_files.write_job(self.attempt, self.job.written())
        model = model.to(self.strategy.device)
        batches = self._resolved_once(model, splits)
        with closing(self._relay()) as relay:
            fitted = self._fit(model, splits, batches, relay)
            metrics = self._test(model, splits, batches)
            self._save(model)
            ended = self._ended(fitted, metrics)
            self._report(metrics, ended)
            relay.hear(ended)
        self.screen.say(*self.data.finish())
        return self._result(fitted, ended)

    def _resolved_once(self, model: Model, splits: Mapping[str, Split]) -> Batching:
        """What an earlier attempt of this run derived is taken from it; a tuned batch size is never tuned again."""
        before = None if self.attempt.fresh else shared_files.read_resolved(self.attempt)
        found = Batching.from_json(before["batching"]) if before else self._batching(model, splits)
        shared_files.write_resolved(self.attempt, self._resolved(found), versions())
        return found

    def _batching(self, model: Model, splits: Mapping[str, Split]) -> Batching:
        given = _given_batching(self.job, model)
        if given is not None:
            return given
        trainer, workers = self.config.trainer, self.job.workers
        limit = search_limit(trainer, workers)
        size = fastest_batch_size(trainer, model, splits["train"], limit, strategy=self.strategy)
        self.screen.say(f"batch_size auto: {formats.count(size)} rows are the fastest here")
        return batching(trainer, workers, size, whole=has_batch_norm(model))

    def _resolved(self, batches: Batching) -> dict[str, Any]:
        return {
            "name": self.job.name,
            "task": self.job.task,
            "backend": self.job.spec.backend.type,
            "device": self.strategy.device.type,
            "workers": self.job.workers,
            "seed": self.job.spec.seed,
            "dataset": {"path": self.job.dataset, "content": self.data.content, "cache": self.data.cache_key},
            "batching": batches.to_json(),
            "checkpoint": self.job.spec.checkpoint.model_dump(mode="json", by_alias=True),
            "config": self.config.model_dump(mode="json"),
        }

    def _relay(self) -> Relay:
        logs, say = TensorBoardLog(self.job.output / names.attempt_logs(self.attempt.number)), self.screen.say
        metrics = Dispensable(self.metrics_file, names.METRICS, say, to_the_end=False)
        return Relay([self.screen, metrics, Dispensable(logs, names.LOGS, say, to_the_end=True)])

    def _fit(self, model: Model, splits: dict[str, Split], batches: Batching, relay: Relay) -> Fitted:
        policy: CheckpointPolicy = self.job.spec.checkpoint
        writer = CheckpointWriter(self.attempt.storage, self.attempt.fence, policy, relay.checkpointed)
        start = self.attempt.start_from
        relay.hear(self._started(splits, batches))
        try:
            fitted = train(
                self.config,
                model,
                splits,
                partial(model_metrics, self.config, self.data.statistics),
                seed=self.job.spec.seed,
                batching=batches,
                checkpoints=writer,
                policy=policy,
                listeners=[relay],
                strategy=self.strategy,
                resume=start.snapshot if start else None,
                stop=self.stop.__bool__,
                attempt=self.attempt.number,
            )
            if fitted.reason == "stopped":
                writer.flush()
                raise StoppedRun(self._how_to_go_on(fitted))
        finally:
            writer.close()
        return fitted

    def _started(self, splits: Mapping[str, Split], batches: Batching) -> Started:
        trainer, start = self.config.trainer, self.attempt.start_from
        outputs = {feature.name: feature.type for feature in self.config.output_features}
        lengths = plan(trainer, len(splits["train"]), batches.global_rows)
        return Started(
            name=self.job.name,
            rows=self.data.rows,
            split_rows=sizes(splits),
            inputs=len(self.config.input_features),
            outputs=outputs,
            cache_key=self.data.cache_key,
            cache_hit=self.data.cache_hit,
            batch_size=batches.global_rows,
            optimizer=trainer.optimizer.type,
            learning_rate=batches.learning_rate,
            epochs=-(-lengths.total_steps // lengths.steps_per_epoch),
            steps_per_epoch=lengths.steps_per_epoch,
            threads=torch.get_num_threads(),
            validation_metric=decisive(trainer, outputs, own_metrics(self.config)).name,
            attempt=self.attempt.number,
            epoch=start.snapshot.position.epoch if start else 0,
            step=start.snapshot.position.step if start else 0,
        )

    def _how_to_go_on(self, fitted: Fitted) -> str:
        position = fitted.position
        where = f"epoch {position.epoch + 1}, row {formats.count(position.rows)}"
        options = {name: getattr(self.job.options, name) for name in ("dataset", "backend", "seed")}
        given = [word for name, value in options.items() if value is not None for word in (f"--{name}", str(value))]
        words = ["trainwright", self.job.task, str(self.job.path), *given, "--output", str(self.job.output), "--resume"]
        return f"stopped by {self.stop.reason} at {where}; checkpoint written. Go on with: {shlex.join(words)}"

    def _test(self, model: Model, splits: Mapping[str, Split], batches: Batching) -> ModelMetrics:
        """Of the best weights, on the test rows; the metrics stay empty where nothing is to be evaluated."""
        metrics = model_metrics(self.config, self.data.statistics, figures=True)
        if len(splits["test"]) and not self.config.trainer.skip_all_evaluation:
            evaluate(model, splits["test"], batches.pass_rows, metrics, device=self.strategy.device)
        return metrics

    def _save(self, model: Model) -> None:
        if self.attempt.superseded():
            return
        model_folder.save(
            self.attempt.storage,
            {name: tensor.cpu() for name, tensor in model.state_dict().items()},
            self.config.model_dump(mode="json"),
            self.data.statistics,
            attempt=self.attempt.number,
            versions=versions(),
            extra={"name": self.job.name, "content": self.data.content, "seed": self.job.spec.seed},
        )

    def _ended(self, fitted: Fitted, metrics: ModelMetrics) -> Ended:
        test = metrics.compute()
        shown = [f"test {name} {formats.score(value)}" for name, value in _headline(self.config, test)]
        done = [f"done in {formats.duration(fitted.seconds)}", f"best epoch {fitted.best_epoch + 1}", *shown]
        places = [f"model {self.job.output / 'model'}", f"report {self.job.output / names.REPORT}"]
        return Ended(
            fitted.seconds, fitted.best_epoch, fitted.best_step, test, fitted.reason, (" · ".join([*done, *places]),)
        )

    def _report(self, metrics: ModelMetrics, ended: Ended) -> None:
        history = self.metrics_file.history
        page = render(
            ReportData(
                title=self.job.name,
                started=history.started,
                history=history.rounds,
                ended=ended,
                outputs=figures_of(metrics),
                features=list(feature_summaries(self.config, self.data.statistics)),
                resolved=shared_files.read_resolved(self.attempt) or {},
                versions=versions(),
            )
        )
        shared_files.write_report(self.attempt, [page.encode()])

    def _result(self, fitted: Fitted, ended: Ended) -> Result:
        output = self.job.output
        return Result(
            output=output,
            model=output / "model",
            report=output / names.REPORT,
            test=ended.test,
            history=fitted.history,
            best_epoch=fitted.best_epoch,
            reason=fitted.reason,
            seconds=fitted.seconds,
        )


def _headline(config: ModelConfig, test: Mapping[str, Mapping[str, float]]) -> Iterator[tuple[str, float]]:
    """The scores worth a place in the last line: the deciding metric, and accuracy beside it."""
    outputs = {feature.name: feature.type for feature in config.output_features}
    decides = decisive(config.trainer, outputs, own_metrics(config))
    for metric in dict.fromkeys((decides.metric, "accuracy")):
        value = test.get(decides.field, {}).get(metric)
        if value is not None:
            yield metric, value
