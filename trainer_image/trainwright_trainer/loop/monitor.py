"""The monitored metrics: for the best round and early stopping, for the plateau, and for the score of a checkpoint."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any

from trainwright_api.config import ModelConfig
from trainwright_api.config.metric_names import DEFAULT_METRIC, METRICS, Direction
from trainwright_api.config.trainer import TrainerConfig
from trainwright_api.problems import Mistakes, nearest
from trainwright_trainer.callbacks.decisive import decisive
from trainwright_trainer.callbacks.events import Scores
from trainwright_trainer.metrics.category import top_k_tells

COMBINED = "combined"
SPLITS = {"training": "train", "validation": "validation", "test": "test"}
"""Ludwig's names for the splits → ours."""


@dataclass(frozen=True)
class MonitoredMetric:
    """A metric of one output (or of all of them together), and the direction in which it improves."""

    field: str
    metric: str
    direction: Direction

    @property
    def name(self) -> str:
        """The name for messages: `late.roc_auc`."""
        return f"{self.field}.{self.metric}"

    def of(self, scores: Scores) -> float:
        """The metric's value in `scores`; NaN where it is missing."""
        return float(scores.get(self.field, {}).get(self.metric, math.nan))

    def defined_by(self, scores: Scores) -> MonitoredMetric:
        """This metric, or the loss of the same output if the rows of `scores` do not define it."""
        is_defined = decisive(self.name, scores) == self.name
        return self if is_defined else replace(self, metric="loss", direction="min")

    def better(self, value: float, best: float) -> bool:
        """True if `value` is strictly better. A NaN is never better; every other value is better than a NaN."""
        if math.isnan(value) or math.isnan(best):
            return not math.isnan(value)
        return value < best if self.direction == "min" else value > best


def own_metrics(config: ModelConfig) -> dict[str, str]:
    """Output feature → its `default_validation_metric`."""
    return {feature.name: feature.default_validation_metric for feature in config.output_features}


def monitored_metric(
    trainer: TrainerConfig, outputs: Mapping[str, str], own: Mapping[str, str] = MappingProxyType({})
) -> MonitoredMetric:
    """The metric of `validation_field` and `validation_metric`.

    `outputs`: output feature → type, in the order of the config. The default field is the first output that has the
    metric. The default metric is the field's entry in `own`, else the default of its type. Raises `Mistakes` for an
    unknown field or metric.
    """
    field = trainer.validation_field or _field_with(trainer.validation_metric, outputs)
    if field != COMBINED and field not in outputs:
        raise Mistakes.one(
            "config.trainer.validation_field", _unknown(field, [*outputs, COMBINED], "no output feature")
        )
    metric = trainer.validation_metric or own.get(field) or _own(field, outputs)
    return of_metric(field, metric, outputs, "config.trainer.validation_metric")


def of_metric(field: str, metric: str, outputs: Mapping[str, str], path: str) -> MonitoredMetric:
    """The metric of a known field. Raises `Mistakes` at `path` if that type of output has no such metric."""
    known = METRICS[_type(field, outputs)]
    if metric not in known:
        raise Mistakes.one(path, _unknown(metric, list(known), f"no metric of '{field}'"))
    return MonitoredMetric(field, metric, known[metric])


def check_tells(config: ModelConfig, statistics: Mapping[str, Mapping[str, Any]]) -> None:
    """Raise `Mistakes` if the monitored metric has the same value for every model of these data."""
    outputs = {feature.name: feature.type for feature in config.output_features}
    decides = monitored_metric(config.trainer, outputs, own_metrics(config))
    if decides.metric != "hits_at_k":
        return
    position = list(outputs).index(decides.field)
    feature: Any = config.output_features[position]
    known = statistics[decides.field]
    if not top_k_tells(feature, known):
        classes = len(known["vocabulary"])
        raise Mistakes.one(
            f"config.output_features[{position}].top_k",
            f"with {classes} classes every row is among the {feature.top_k} likeliest, so hits_at_k cannot decide "
            f"which epoch is best: set it to less than {classes}, or config.trainer.validation_metric to accuracy",
        )


def _type(field: str, outputs: Mapping[str, str]) -> str:
    return COMBINED if field == COMBINED and field not in outputs else outputs[field]


def _own(field: str, outputs: Mapping[str, str]) -> str:
    return DEFAULT_METRIC.get(_type(field, outputs), "loss")


def _field_with(metric: str | None, outputs: Mapping[str, str]) -> str:
    if metric is None:
        return next(iter(outputs))
    return next((name for name, kind in outputs.items() if metric in METRICS[kind]), next(iter(outputs)))


def _unknown(found: str, known: list[str], what: str) -> str:
    hint = nearest(found, known)
    return f"'{found}' is {what}; there are {', '.join(known)}" + (f": did you mean '{hint}'?" if hint else "")


@dataclass(frozen=True)
class Monitors:
    """`validation` decides which round is best. `plateau`, of the same field, decides when the learning rate falls."""

    validation: MonitoredMetric
    plateau: MonitoredMetric


def monitors_of(
    trainer: TrainerConfig, outputs: Mapping[str, str], own: Mapping[str, str] = MappingProxyType({})
) -> Monitors:
    """Both metrics of a trainer section. Without `reduce_on_plateau`, `reduce_eval_metric` is not read.

    Raises `Mistakes` for an unknown field or metric.
    """
    validation = monitored_metric(trainer, outputs, own)
    scheduler = trainer.learning_rate_scheduler
    if scheduler is None or not scheduler.reduce_on_plateau:
        return Monitors(validation, validation)
    path = "config.trainer.learning_rate_scheduler.reduce_eval_metric"
    return Monitors(validation, of_metric(validation.field, scheduler.reduce_eval_metric, outputs, path))


def check_plateau(trainer: TrainerConfig, rows: Mapping[str, int]) -> None:
    """Raise `Mistakes` if the split that is monitored for a plateau has no rows: the rate would fall in each round.

    `rows`: those of each split.
    """
    scheduler = trainer.learning_rate_scheduler
    if scheduler is None or not scheduler.reduce_on_plateau:
        return
    split = scheduler.reduce_eval_split
    if not rows[SPLITS[split]]:
        path = "config.trainer.learning_rate_scheduler.reduce_eval_split"
        raise Mistakes.one(path, f"is {split}, and there are no {split} rows")


def score_of(attribute: str, scores: Mapping[str, Scores]) -> float | None:
    """The value of `checkpoint.scoreAttribute`, such as `validation.loss` or `validation.late.roc_auc`; None where
    `scores` lack it."""
    split, _, rest = attribute.partition(".")
    field, _, metric = rest.rpartition(".")
    value = scores.get("train" if split == "training" else split, {}).get(field or COMBINED, {}).get(metric, math.nan)
    return None if math.isnan(value) else float(value)
