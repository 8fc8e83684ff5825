"""Metrics of binary outputs. ROC-AUC needs the order of all scores, so scores and targets of all rows are kept."""

from __future__ import annotations

import numpy as np
import torch

from trainwright_trainer.metrics.base import Array, OutputMetrics, Sums
from trainwright_trainer.metrics.ranking import roc_auc
from trainwright_trainer.models.units import probability


class BinaryMetrics(OutputMetrics):
    """Targets and logits are [rows]. A row is predicted true if its probability is at least the output's `threshold`.

    As in torchmetrics, a share of zero rows (such as the precision if no row is predicted true) is 0.
    """

    def fold(self, logits: Array, targets: Array) -> Sums:
        """`confusion`: the number of rows by [true class, predicted class]."""
        predicted = probability(logits) >= self.feature.threshold
        cells = np.bincount(2 * (targets > 0.5) + predicted, minlength=4)
        return {"confusion": cells.reshape(2, 2)}

    def scores(self, sums: Sums) -> dict[str, float]:
        (true_negative, false_positive), (false_negative, true_positive) = sums["confusion"].tolist()
        found = {
            "accuracy": (true_negative + true_positive) / int(sums["rows"]),
            "precision": _share(true_positive, false_positive),
            "recall": _share(true_positive, false_negative),
            "specificity": _share(true_negative, false_positive),
        }
        scores, targets = self.kept()
        area = roc_auc(scores, targets.astype(bool))
        return found if area is None else {**found, "roc_auc": area}

    def compact(self, targets: torch.Tensor) -> torch.Tensor:
        return (targets > 0.5).to(torch.uint8)


def _share(part: int, rest: int) -> float:
    return part / (part + rest) if part + rest else 0.0
