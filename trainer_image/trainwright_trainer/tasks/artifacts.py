"""The artifacts of a finished training: the model, the report, the last log line, and the result for Python."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from trainwright_api.config import ModelConfig
from trainwright_trainer.callbacks import formats
from trainwright_trainer.callbacks.events import Ended, Scores
from trainwright_trainer.callbacks.history import History
from trainwright_trainer.callbacks.lines import SHARE_OF_RIGHT
from trainwright_trainer.job.versions import versions
from trainwright_trainer.loop.fit import Result as Fitted
from trainwright_trainer.loop.monitor import MonitoredMetric, monitored_metric, own_metrics
from trainwright_trainer.metrics.baseline import comparisons
from trainwright_trainer.models.model import Model
from trainwright_trainer.report.data import OutputFigures, ReportData
from trainwright_trainer.report.page import render
from trainwright_trainer.rundir import layout as names
from trainwright_trainer.rundir import model_folder, shared_files
from trainwright_trainer.tasks.feature_summaries import feature_summaries
from trainwright_trainer.tasks.result import Result
from trainwright_trainer.tasks.train_context import TrainContext


def save_model(material: TrainContext, model: Model) -> None:
    """Write the folder `model/`, unless a newer attempt has superseded this one."""
    attempt, job = material.attempt, material.job
    if attempt.superseded():
        return
    model_folder.save(
        attempt.storage,
        {name: tensor.cpu() for name, tensor in model.state_dict().items()},
        material.config.model_dump(mode="json"),
        material.data.statistics,
        attempt=attempt.number,
        versions=versions(),
        extra={"name": job.name, "content": material.data.content, "seed": job.spec.seed},
    )


def ended(material: TrainContext, fitted: Fitted, test: Scores, figures: Sequence[OutputFigures]) -> Ended:
    """The last event. It holds the last log line, and a warning if the model is no better than the baseline."""
    compared = comparisons(figures)
    decides = _decides(material.config)
    phrases = [one.phrase for one in compared if one.output == decides.field] or [one.phrase for one in compared[:1]]
    output = material.job.output
    shown = [f"test {name} {formats.score(value)}" for name, value in _headline(material.config, test)]
    done = [f"done in {formats.duration(fitted.seconds)}", f"best epoch {fitted.best_epoch + 1}", *shown, *phrases]
    places = [f"model {output / 'model'}", f"report {output / names.REPORT}"]
    warnings = [one.warning for one in compared if one.warning]
    return Ended(
        fitted.seconds,
        fitted.best_epoch,
        fitted.best_step,
        test,
        fitted.reason,
        (*warnings, " · ".join([*done, *places])),
        {one.output: one.to_json() for one in compared},
    )


def write_report(material: TrainContext, history: History, figures: Sequence[OutputFigures], end: Ended) -> None:
    """Write report.html."""
    page = render(
        ReportData(
            title=material.job.name,
            started=history.started,
            history=history.rounds,
            ended=end,
            outputs=figures,
            features=list(feature_summaries(material.config, material.data.statistics)),
            resolved=shared_files.read_resolved(material.attempt) or {},
            versions=versions(),
        )
    )
    shared_files.write_report(material.attempt, [page.encode()])


def result_of(material: TrainContext, fitted: Fitted, end: Ended) -> Result:
    """The return value of the Python API."""
    output = material.job.output
    return Result(
        output=output,
        model=output / "model",
        report=output / names.REPORT,
        test=end.test,
        history=fitted.history,
        best_epoch=fitted.best_epoch,
        reason=fitted.reason,
        seconds=fitted.seconds,
    )


def _headline(config: ModelConfig, test: Mapping[str, Mapping[str, float]]) -> Iterator[tuple[str, float]]:
    """The test scores in the last log line: the monitored metric and, where the output has them, both accuracies."""
    decides = _decides(config)
    for metric in dict.fromkeys((decides.metric, "accuracy", SHARE_OF_RIGHT)):
        value = test.get(decides.field, {}).get(metric)
        if value is not None:
            yield metric, value


def _decides(config: ModelConfig) -> MonitoredMetric:
    outputs = {feature.name: feature.type for feature in config.output_features}
    return monitored_metric(config.trainer, outputs, own_metrics(config))
