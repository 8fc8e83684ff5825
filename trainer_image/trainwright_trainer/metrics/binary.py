"""Metrics of binary outputs. ROC-AUC needs the order of all scores, so scores and targets of all rows are kept.

A running state keeps `MOST_KEPT` rows at most. Beyond them it counts the rows in a histogram of the scores.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import torch

from trainwright_trainer.features.binary import log_odds
from trainwright_trainer.metrics.base import AnySums, Kept, OutputMetrics, Sums, side_by_side
from trainwright_trainer.metrics.ranking import histogram, roc_auc, roc_auc_of_histogram

MOST_KEPT = 1 << 16
HISTOGRAM = "histogram"


class BinaryMetrics(OutputMetrics):
    """Targets and logits are [rows]. A row is predicted true if its probability is at least the output's `threshold`.

    As in torchmetrics, a share of zero rows (such as the precision if no row is predicted true) is 0.
    """

    def __init__(self, feature: Any, statistics: Mapping[str, Any], *, keeps: bool, running: bool) -> None:
        super().__init__(feature, statistics, keeps=keeps, running=running)
        self.needs_cpu = keeps and not running  # the memory of a GPU is not for all rows of a split

    def fold(self, logits: torch.Tensor, targets: torch.Tensor) -> AnySums:
        """`confusion`: the number of rows by [true class, predicted class]."""
        predicted, true = _probability(logits) >= self.feature.threshold, targets > 0.5
        cells = [(rows & chosen).sum() for rows in (~true, true) for chosen in (~predicted, predicted)]
        return {"confusion": torch.stack(cells).reshape(2, 2)}

    def scores(self, sums: Sums) -> dict[str, float]:
        (true_negative, false_positive), (false_negative, true_positive) = sums["confusion"].tolist()
        found = {
            "accuracy": (true_negative + true_positive) / int(sums["rows"]),
            "precision": _share(true_positive, false_positive),
            "recall": _share(true_positive, false_negative),
            "specificity": _share(true_negative, false_positive),
        }
        area = self._area(sums)
        return found if area is None else {**found, "roc_auc": area}

    def _area(self, sums: Sums) -> float | None:
        if HISTOGRAM in sums:
            return roc_auc_of_histogram(*sums[HISTOGRAM])
        scores, targets = self.kept()
        return roc_auc(scores, targets.astype(bool))

    def compact(self, targets: torch.Tensor) -> torch.Tensor:
        return (targets > 0.5).to(torch.uint8)

    def condensed(self, kept: Kept) -> Kept:
        rows = sum(len(scores) for scores, _ in kept)
        if not self.running or not rows or (rows <= MOST_KEPT and HISTOGRAM not in self._sums):
            return kept
        scores, targets = side_by_side(kept)
        self._add({HISTOGRAM: histogram(scores, targets.bool(), self._start())})
        return []

    def _start(self) -> float:
        """The score of an untrained model. The first scores of a training lie close to it."""
        return log_odds(self.statistics)


def _probability(logits: torch.Tensor) -> torch.Tensor:
    """As `models.units.probability`, by the same formula. The last bit can differ: torch rounds `exp` differently."""
    small = torch.exp(-logits.abs())
    return torch.where(logits >= 0, 1.0, small) / (1.0 + small)


def _share(part: int, rest: int) -> float:
    return part / (part + rest) if part + rest else 0.0
