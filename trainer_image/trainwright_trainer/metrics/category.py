"""Metrics of categories, with Ludwig's names.

`accuracy` is the mean of the classes' own accuracies (torchmetrics' macro average, over the classes that occur in
targets or predictions). `accuracy_micro` is the share of all rows that are correct. `hits_at_k` is the share of rows
whose class is among the `top_k` highest scores. (Ludwig's code averages hits over classes too; its documentation does
not.) If scores are equal, the class with the lower number comes first. With at most `top_k` classes every row is a hit
for every model, so `hits_at_k` is left out.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt
import torch

from trainwright_trainer.features.category import UNKNOWN
from trainwright_trainer.metrics.base import AnySums, Array, OutputMetrics, Sums
from trainwright_trainer.metrics.ranking import counts
from trainwright_trainer.models.units import softmax

# The size of the figures' confusion matrix: a row for each of the most frequent classes and one for all others.
SHOWN = 30
BINS = 10
# The bins of the ROC curves: log-odds of a class's probability, less those of its share of the rows. As those of
# `ranking.histogram`, they are narrow around 0 and grow with the distance from it.
_BINS_OF_ROC = 1024
_NARROW, _WIDEST = 1e-3, 700.0
_LEAST = 1e-300
# The label in figures for values that are too rare for the vocabulary.
RARE = "rare values"


class CategoryMetrics(OutputMetrics):
    """Targets are int64 [rows], logits [rows, classes]."""

    def __init__(self, feature: Any, statistics: Mapping[str, Any], *, keeps: bool, running: bool) -> None:
        super().__init__(feature, statistics, keeps=False, running=running)
        self.draws = self.needs_cpu = keeps
        self.shown, self._place, self.classes_in_last = places(statistics)
        self.named = named_classes(statistics)
        self._starts = _log_odds(np.asarray(statistics["counts"]))[self.named]

    def fold(self, logits: torch.Tensor, targets: torch.Tensor) -> AnySums:
        classes = logits.shape[1]
        predicted = logits.argmax(1)
        right = predicted == targets
        of_class = counts(targets + classes * ~right, 2 * classes).reshape(2, classes)
        sums: AnySums = {
            "right": of_class[0],
            "targets": of_class.sum(0),
            "predicted": counts(predicted, classes),
            "hits": (ranks(logits, targets) < self.feature.top_k).sum(),
        }
        if not self.draws:
            return sums
        return {**sums, **self._drawn(logits.numpy(), targets.numpy(), predicted.numpy(), right.numpy())}

    def scores(self, sums: Sums) -> dict[str, float]:
        right, targets, rows = sums["right"], sums["targets"], int(sums["rows"])
        occurs = (targets > 0) | (sums["predicted"] > 0)
        found = {
            "accuracy": float(np.mean(right[occurs] / np.maximum(targets[occurs], 1))),
            "accuracy_micro": int(right.sum()) / rows,
        }
        return {**found, "hits_at_k": int(sums["hits"]) / rows} if self.ranks_tell else found

    @property
    def ranks_tell(self) -> bool:
        """True if `hits_at_k` can differ between two models."""
        return top_k_tells(self.feature, self.statistics)

    def _drawn(self, logits: Array, targets: Array, predicted: Array, right: Array) -> Sums:
        """The sums for figures: a confusion matrix of the shown classes, and the calibration of the predictions."""
        shown = len(self.shown)
        cells = np.bincount(self._place[targets] * shown + self._place[predicted], minlength=shown * shown)
        shares = softmax(logits)
        sure = shares.max(1)
        bins = np.minimum((sure * BINS).astype(np.int64), BINS - 1)
        return {
            "confusion": cells.reshape(shown, shown),
            "sure": np.bincount(bins, sure, BINS),
            "sure_right": np.bincount(bins[right], minlength=BINS),
            "sure_rows": np.bincount(bins, minlength=BINS),
            "rocs": one_against_rest(shares, targets, self.named, self._starts),
        }


def top_k_tells(feature: Any, statistics: Mapping[str, Any]) -> bool:
    """True if a row's class can be outside the `top_k` most probable classes."""
    return bool(feature.top_k < len(statistics["vocabulary"]))


def named_classes(statistics: Mapping[str, Any]) -> npt.NDArray[np.int64]:
    """The classes that have a row of their own in the matrix, in its order."""
    counts = np.asarray(statistics["counts"])
    if len(counts) <= SHOWN:
        return np.arange(len(counts))
    return np.sort(np.argsort(-counts, kind="stable")[: SHOWN - 1])


def _log_odds(counts: Array) -> npt.NDArray[np.float64]:
    """Those of each class's share of the rows. Each class counts one row more, so that they are finite."""
    rows = counts + 1.0
    found: npt.NDArray[np.float64] = np.log(rows / np.maximum(rows.sum() - rows, 1.0))
    return found


def one_against_rest(
    shares: Array, targets: Array, classes: npt.NDArray[np.int64], starts: npt.NDArray[np.float64]
) -> npt.NDArray[np.int64]:
    """[classes, 2, bins]: for each of `classes` its rows and all other rows, by the log-odds of its probability.

    `starts` [classes]: the log-odds in the middle of the bins.
    """
    likeliest = shares.argmax(1)
    others = shares.copy()
    others[np.arange(len(shares)), likeliest] = 0  # 1 less a probability near 1 would have few digits
    own = shares[:, classes]
    rest = np.where(likeliest[:, None] == classes, others.sum(1)[:, None], 1 - own)
    odds = np.log(np.maximum(own, _LEAST)) - np.log(np.maximum(rest, _LEAST))
    place = np.arcsinh((odds - starts) / _NARROW) / np.arcsinh(_WIDEST / _NARROW)
    index = np.clip(((place + 1) / 2 * _BINS_OF_ROC).astype(np.int64), 0, _BINS_OF_ROC - 1)
    other = (targets[:, None] != classes).astype(np.int64)
    cells = (2 * np.arange(len(classes)) + other) * _BINS_OF_ROC + index
    return np.bincount(cells.ravel(), minlength=2 * len(classes) * _BINS_OF_ROC).reshape(len(classes), 2, -1)


def ranks(logits: torch.Tensor, targets: torch.Tensor) -> torch.Tensor:
    """int64 [rows]: the number of classes ranked before the true class."""
    own = logits.gather(1, targets[:, None])
    before = torch.arange(logits.shape[1], device=logits.device) < targets[:, None]
    return ((logits > own) | ((logits == own) & before)).sum(1)


def class_labels(statistics: Mapping[str, Any]) -> list[str]:
    """The labels of all classes for figures."""
    return [RARE if label == UNKNOWN else label for label in statistics["vocabulary"]]


def places(statistics: Mapping[str, Any]) -> tuple[list[str], npt.NDArray[np.int64], int]:
    """The labels of the matrix, each class's position in it, and the number of classes that share the last position."""
    labels = class_labels(statistics)
    if len(labels) <= SHOWN:
        return labels, np.arange(len(labels)), 1
    common = named_classes(statistics)
    place = np.full(len(labels), SHOWN - 1)
    place[common] = np.arange(SHOWN - 1)
    folded = len(labels) - len(common)
    return [*(labels[i] for i in common), f"{folded:,} others"], place, folded
