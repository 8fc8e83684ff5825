"""The input of the report: plain values, computed once at the end of a run. No torch here."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from trainwright_trainer.callbacks.events import Ended, Evaluated, Started
from trainwright_trainer.features.distribution import Distribution


@dataclass(frozen=True)
class ConfusionMatrix:
    """Counts [true class][predicted class]; at most 30 classes. `in_last`: number of classes in the last one.

    `counted`: the word for what is counted.
    """

    labels: Sequence[str]
    counts: Sequence[Sequence[int]]
    in_last: int = 1
    counted: str = "row"


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
class ClassScores:
    """The scores of one class, and `support`, the number of rows that are of it. A share of no rows is 0."""

    label: str
    precision: float
    recall: float
    f1: float
    support: int


@dataclass(frozen=True)
class PrecisionRecall:
    """At most 200 points, from recall 0 to recall 1. `positive`: the share of positive rows."""

    recall: Sequence[float]
    precision: Sequence[float]
    average_precision: float
    positive: float


@dataclass(frozen=True)
class Thresholds:
    """Precision, recall and F1 if rows from each threshold on count as positive. `used`: the output's threshold."""

    thresholds: Sequence[float]
    precision: Sequence[float]
    recall: Sequence[float]
    f1: Sequence[float]
    used: float


@dataclass(frozen=True)
class ClassRoc:
    """The ROC curve of one class against all others."""

    label: str
    curve: RocCurve


@dataclass(frozen=True)
class Residuals:
    """Predicted minus true, in the target's own units: rows in bins of equal width, and quantiles.

    `counts` are of the bins between `edges`; the outermost ones hold what lies beyond. `predicted` are the means of at
    most ten groups of rows of nearly equal size, by prediction; `low`, `median`, `high` are the 10, 50 and 90 %
    quantiles of each group.
    """

    edges: Sequence[float]
    counts: Sequence[int]
    predicted: Sequence[float]
    low: Sequence[float]
    median: Sequence[float]
    high: Sequence[float]


@dataclass(frozen=True)
class WorstRow:
    """A row with a large loss. `row`: its number in the source, from 0. `values`: its raw values by column, as text;
    None if the file was not read as far as this row. `images`: its pictures by column, as data URIs."""

    row: int
    loss: float
    predicted: str
    values: Mapping[str, str] | None
    images: Mapping[str, str] = field(default_factory=dict)


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
    classes: Sequence[ClassScores] = ()
    precision_recall: PrecisionRecall | None = None
    thresholds: Thresholds | None = None
    class_rocs: Sequence[ClassRoc] = ()
    residuals: Residuals | None = None
    intervals: Mapping[str, tuple[float, float]] = field(default_factory=dict)  # 95 %, by metric
    worst: Sequence[WorstRow] = ()
    worst_columns: tuple[str, ...] = ()  # the target's column first, then those of the inputs
    note: str = ""  # explains its metrics if their names are not enough


@dataclass(frozen=True)
class FeatureSummary:
    """One card in the report's section of features."""

    name: str
    type: str
    role: str  # input, output
    facts: Mapping[str, str]  # "mean" → "12.3", "missing" → "1.2 %"
    distribution: Distribution | None = None
    images: Sequence[str] = ()  # pictures of the first training rows, as data URIs


@dataclass(frozen=True)
class FeatureImportance:
    """The rise of an output's mean loss if the values of one input are permuted among the rows.

    `low` and `high` are the ends of its 95 % interval. `score` is the metric of `Importance` after the permutation.
    """

    feature: str
    rise: float
    low: float
    high: float
    score: float


@dataclass(frozen=True)
class Importance:
    """The permutation importance of the inputs for one output. `loss` and `score` are those of the unchanged rows."""

    output: str
    loss: float
    metric: str
    score: float
    features: Sequence[FeatureImportance]  # the most important first


@dataclass(frozen=True)
class Importances:
    """The permutation importance of all outputs, on `rows` rows of a part, each permuted `repeats` times."""

    part: str
    rows: int
    repeats: int
    outputs: Sequence[Importance]


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
    importance: Importances | None = None
    about: Mapping[str, str] = field(default_factory=dict)  # "date" → "2026-11-25 00:31 UTC", "machine" → …
