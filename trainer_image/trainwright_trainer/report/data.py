"""The input of the report: plain values, computed once at the end of a run. No torch here."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from trainwright_trainer.callbacks.events import Ended, Evaluated, Started
from trainwright_trainer.features.distribution import Distribution


@dataclass(frozen=True)
class ConfusionMatrix:
    """Counts [true class][predicted class]; at most 30 classes. `in_last`: number of classes in the last one."""

    labels: Sequence[str]
    counts: Sequence[Sequence[int]]
    in_last: int = 1


@dataclass(frozen=True)
class RocCurve:
    """At most 200 points from (0, 0) to (1, 1)."""

    false_positive_rate: Sequence[float]
    true_positive_rate: Sequence[float]
    auc: float


@dataclass(frozen=True)
class Calibration:
    """Ten bins of predicted probability: mean prediction, observed share, rows."""

    predicted: Sequence[float]
    observed: Sequence[float]
    rows: Sequence[int]


@dataclass(frozen=True)
class PredictedAgainstTrue:
    """A 2-D histogram in the target's own units: counts [true bin][predicted bin] over shared edges."""

    edges: Sequence[float]
    counts: Sequence[Sequence[int]]


@dataclass(frozen=True)
class TokenCounts:
    """The rows whose true set has each token, those whose predicted set has it, and both, for at most 30 tokens."""

    tokens: Sequence[str]
    true: Sequence[int]
    predicted: Sequence[int]
    both: Sequence[int]


@dataclass(frozen=True)
class OutputFigures:
    """The results of one output feature on one part of the data (test, or the data given to `evaluate`)."""

    name: str
    type: str
    scores: Mapping[str, float]
    baselines: Mapping[str, Mapping[str, float]]  # "always the most frequent class" → {"accuracy": …}
    confusion: ConfusionMatrix | None = None
    roc: RocCurve | None = None
    calibration: Calibration | None = None
    predicted_against_true: PredictedAgainstTrue | None = None
    tokens: TokenCounts | None = None
    note: str = ""  # explains its metrics if their names are not enough


@dataclass(frozen=True)
class FeatureSummary:
    """One card in the report's section of features."""

    name: str
    type: str
    role: str  # input, output
    facts: Mapping[str, str]  # "mean" → "12.3", "missing" → "1.2 %"
    distribution: Distribution | None = None


@dataclass(frozen=True)
class ReportData:
    """All data of the report. `ended` is None and `history` is empty for `evaluate`."""

    title: str
    started: Started | None
    history: Sequence[Evaluated]
    ended: Ended | None
    outputs: Sequence[OutputFigures]
    features: Sequence[FeatureSummary]
    resolved: Mapping[str, Any]
    versions: Mapping[str, str]
    part: str = "test"  # the rows of the evaluation; "given": all of a data set that it was not trained on
