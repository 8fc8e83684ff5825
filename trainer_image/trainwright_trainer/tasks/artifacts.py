"""The artifacts of a finished training: the model, the report, the last log line, and the result for Python."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from trainwright_api.config import ModelConfig
from trainwright_trainer.callbacks import formats
from trainwright_trainer.callbacks.events import Ended, Scores
from trainwright_trainer.callbacks.history import History
from trainwright_trainer.callbacks.lines import SHARE_OF_RIGHT
from trainwright_trainer.errors import EARLY_STOPPING
from trainwright_trainer.features.registry import FEATURES
from trainwright_trainer.job.job import Job
from trainwright_trainer.job.versions import versions
from trainwright_trainer.loop.arguments import TrainingResult
from trainwright_trainer.loop.monitor import MonitoredMetric, monitored_metric, own_metrics
from trainwright_trainer.metrics.baseline import comparisons
from trainwright_trainer.models.model import Model
from trainwright_trainer.report.data import FeatureSummary, OutputFigures, ReportData
from trainwright_trainer.report.page import render
from trainwright_trainer.rundir import layout as names
from trainwright_trainer.rundir import model_folder, shared_files
from trainwright_trainer.tasks.embeddings import without_embeddings
from trainwright_trainer.tasks.report_analyses import Analyses
from trainwright_trainer.tasks.report_facts import facts_of
from trainwright_trainer.tasks.resolve import TrainContext
from trainwright_trainer.tasks.result import Result


def save_model(context: TrainContext, model: Model) -> None:
    """Write the folder `model/`."""
    attempt, job = context.attempt, context.job
    model_folder.save(
        attempt.storage,
        {name: tensor.cpu() for name, tensor in model.whole_weights().items()},
        _saved_config(context.config),
        without_embeddings(context.data.statistics),
        attempt=attempt.number,
        versions=versions(),
        extra={
            "name": job.name,
            "content": context.data.content,
            "seed": job.spec.seed,
            "na_values": _na_values(job),
            "dataset_options": _dataset_options(job),
        },
    )


def _saved_config(config: ModelConfig) -> dict[str, Any]:
    """The config of the saved model, whose weights hold the adapters that are merged into them."""
    found = config.model_dump(mode="json")
    for feature in found["input_features"]:
        adapter = feature["encoder"].get("adapter")
        if adapter is not None and adapter["postprocessor"]["merge_adapter_into_base_model"]:
            feature["encoder"]["adapter"] = None
    return found


def _dataset_options(job: Job) -> dict[str, Any]:
    """The options with which the data of the training are read."""
    options = job.spec.dataset_options
    return {} if options is None else options.model_dump(mode="json", exclude_none=True)


def _na_values(job: Job) -> list[str]:
    """The texts that count as missing, which also new tables may hold."""
    options = job.spec.dataset_options
    return list(options.na_values or ()) if options is not None else []


def ended(context: TrainContext, fitted: TrainingResult, test: Scores, figures: Sequence[OutputFigures]) -> Ended:
    """The last event. It holds the last log line, and a warning if the model is no better than the baseline."""
    compared = comparisons(figures)
    decides, is_alone = _decides(context.config), len(context.config.output_features) == 1
    told = [one for one in compared if one.output == decides.field] or compared[:1]
    phrases = [one.phrase if is_alone else f"{one.output}: {one.phrase}" for one in told]
    output = context.job.output
    shown = [f"test {name} {formats.score(value)}" for name, value in _headline(context.config, test)]
    early = ["stopped early"] if fitted.outcome.reason == EARLY_STOPPING else []
    best = [f"best epoch {fitted.best_epoch + 1}"] if fitted.history else []
    done = [f"done in {formats.duration(fitted.seconds)}", *early, *best]
    places = [f"model {output / 'model'}", f"report {output / names.REPORT}"]
    warnings = [one.warning for one in compared if one.warning]
    return Ended(
        fitted.seconds,
        fitted.best_epoch,
        fitted.best_step,
        test,
        fitted.outcome.reason,
        (*warnings, " · ".join([*done, *shown, *phrases, *places])),
        {one.output: one.to_json() for one in compared},
    )


def write_report(context: TrainContext, history: History, found: Analyses, end: Ended) -> None:
    """Write report.html."""
    job, data = context.job, context.data
    page = render(
        ReportData(
            title=job.name,
            started=history.started,
            history=history.rounds,
            ended=end,
            outputs=found.figures,
            features=list(feature_summaries(context.config, data.statistics, found.samples)),
            resolved=shared_files.read_resolved(context.attempt) or {},
            versions=versions(),
            importance=found.importance,
            about=facts_of(job, job.shown_dataset, data.content),
        )
    )
    shared_files.write_report(context.attempt, [page.encode()])


def feature_summaries(
    config: ModelConfig, statistics: Mapping[str, Mapping[str, Any]], samples: Mapping[str, Sequence[str]]
) -> Iterator[FeatureSummary]:
    """The summaries in the order of the config, inputs first. `samples`: the pictures of image inputs."""
    for role, features in (("input", config.input_features), ("output", config.output_features)):
        for feature in features:
            if feature.name in statistics:
                kind, known = FEATURES[feature.type], statistics[feature.name]
                facts, shown = kind.facts(known), samples.get(feature.name, ())
                yield FeatureSummary(feature.name, feature.type, role, facts, kind.distribution(known), shown)


def result_of(context: TrainContext, fitted: TrainingResult, end: Ended) -> Result:
    """The return value of the Python API."""
    output = context.job.output
    return Result(
        output=output,
        model=output / "model",
        report=output / names.REPORT,
        test=end.test,
        history=fitted.history,
        best_epoch=fitted.best_epoch,
        outcome=fitted.outcome,
        seconds=fitted.seconds,
        keys=context.job.keys.artifacts,
    )


def _headline(config: ModelConfig, test: Mapping[str, Mapping[str, float]]) -> Iterator[tuple[str, float]]:
    """The test scores in the last log line: the monitored metric and, where the output has them, both accuracies. Of
    several outputs the name of the monitored one is in front."""
    decides = _decides(config)
    output = f"{decides.field}." if len(config.output_features) > 1 else ""
    for metric in dict.fromkeys((decides.metric, "accuracy", SHARE_OF_RIGHT)):
        value = test.get(decides.field, {}).get(metric)
        if value is not None:
            yield f"{output}{metric}", value


def _decides(config: ModelConfig) -> MonitoredMetric:
    outputs = {feature.name: feature.type for feature in config.output_features}
    return monitored_metric(config.trainer, outputs, own_metrics(config))
