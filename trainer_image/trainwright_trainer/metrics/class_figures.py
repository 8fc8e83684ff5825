"""The figures of classes: scores of each class, and curves over the threshold."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from trainwright_trainer.metrics.ranking import roc_auc_of_histogram, roc_points
from trainwright_trainer.report.data import ClassRoc, ClassScores, PrecisionRecall, RocCurve, Thresholds

Array = npt.NDArray[Any]

MOST_POINTS = 200
GRID = np.arange(101) / 100
"""The thresholds of `thresholds_of`."""


def class_scores(labels: Sequence[str], right: Array, targets: Array, predicted: Array) -> list[ClassScores]:
    """One entry for each class that occurs, the most frequent first. The arrays are rows by class."""
    order = [i for i in np.argsort(-targets, kind="stable") if targets[i] or predicted[i]]
    return [
        ClassScores(
            labels[i],
            _share(right[i], predicted[i]),
            _share(right[i], targets[i]),
            _share(2 * right[i], targets[i] + predicted[i]),
            int(targets[i]),
        )
        for i in order
    ]


def roc_of(scores: Array, positive: Array, area: float) -> RocCurve:
    """The curve at up to `MOST_POINTS` points, evenly spaced by the sum of both coordinates."""
    return _roc(*roc_points(scores, positive), area)


def _roc(false: Array, true: Array, area: float) -> RocCurve:
    across, up = false / false[-1], true / true[-1]
    picked = _picked(across + up)
    return RocCurve(across[picked].tolist(), up[picked].tolist(), area)


def precision_recall(scores: Array, positive: Array) -> PrecisionRecall:
    """The curve over all thresholds. Average precision is Σ (Rₙ − Rₙ₋₁) Pₙ, as in scikit-learn. There is a positive."""
    false, true = roc_points(scores, positive)
    recall = true / true[-1]
    precision = np.append(1.0, true[1:] / (true[1:] + false[1:]))
    average = float(np.sum(np.diff(recall) * precision[1:]))
    picked = _picked(recall + false / max(int(false[-1]), 1))
    return PrecisionRecall(recall[picked].tolist(), precision[picked].tolist(), average, float(np.mean(positive)))


def thresholds_of(probabilities: Array, positive: Array, used: float) -> Thresholds:
    """Precision, recall and F1 at each threshold of `GRID`."""
    above = _from(np.sort(probabilities), GRID)
    right = _from(np.sort(probabilities[positive]), GRID)
    precision, recall = right / np.maximum(above, 1), right / max(int(np.sum(positive)), 1)
    f1 = 2 * right / np.maximum(above + np.sum(positive), 1)
    return Thresholds(GRID.tolist(), precision.tolist(), recall.tolist(), f1.tolist(), used)


def class_rocs(labels: Sequence[str], histograms: Array) -> list[ClassRoc]:
    """A curve for each class that has rows and is not the only one. `histograms`: [classes, 2, bins], see
    `category.one_against_rest`."""
    found = []
    for label, (up, down) in zip(labels, histograms, strict=True):
        area = roc_auc_of_histogram(up, down)
        if area is not None:
            false, true = (np.append(0, np.cumsum(rows[::-1])) for rows in (down, up))
            found.append(ClassRoc(label, _roc(false, true, area)))
    return found


def _picked(length: Array) -> Array:
    """The positions of the points to draw: all, or some that are evenly spaced by `length`, which ascends."""
    if len(length) <= MOST_POINTS:
        return np.arange(len(length))
    wanted = np.linspace(length[0], length[-1], MOST_POINTS)
    return np.unique(np.searchsorted(length, wanted).clip(max=len(length) - 1))


def _from(ascending: Array, thresholds: Array) -> Array:
    """The number of values from each threshold on."""
    return len(ascending) - np.searchsorted(ascending, thresholds, "left")


def _share(part: int, whole: int) -> float:
    return float(part / whole) if whole else 0.0
