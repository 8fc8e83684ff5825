"""Metrics of sets. `jaccard` is the mean over the rows of the size of the intersection of the predicted and the true
set, divided by the size of their union; 1 if both are empty. (Ludwig's code gives no number for such a row.)"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt
import torch

from trainwright_trainer.metrics.base import Array, OutputMetrics, Sums
from trainwright_trainer.models.units import probability

BINS = 10


class SetMetrics(OutputMetrics):
    """Targets (1 for the tokens of a row) and logits (log-odds) are [rows, tokens]. With `keeps` there are also sums
    for figures: the rows of each token, the probabilities in bins, and the Jaccard index of the most frequent token.
    """

    def __init__(self, feature: Any, statistics: Mapping[str, Any], *, keeps: bool, running: bool) -> None:
        super().__init__(feature, statistics, keeps=False, running=running)
        self.draws = keeps

    def fold(self, logits: torch.Tensor, targets: torch.Tensor) -> Sums:
        shares, true = probability(logits.numpy()), targets.numpy() > 0.5
        chosen = shares >= self.feature.threshold
        sums: Sums = {"jaccard": jaccard(chosen, true).sum()}
        return {**sums, **self._drawn(shares, chosen, true)} if self.draws else sums

    def scores(self, sums: Sums) -> dict[str, float]:
        return {"jaccard": float(sums["jaccard"]) / int(sums["rows"])}

    def _drawn(self, shares: Array, chosen: Array, true: Array) -> Sums:
        bins = np.minimum((shares * BINS).astype(np.int64), BINS - 1)
        one = np.zeros_like(true)
        one[:, int(np.argmax(self.statistics["counts"]))] = True
        return {
            "true": true.sum(0),
            "chosen": chosen.sum(0),
            "both": (chosen & true).sum(0),
            "one": jaccard(one, true).sum(),
            "sure": np.bincount(bins.ravel(), shares.ravel(), BINS),
            "sure_right": np.bincount(bins[true], minlength=BINS),
            "sure_rows": np.bincount(bins.ravel(), minlength=BINS),
        }


def jaccard(chosen: Array, true: Array) -> npt.NDArray[np.float64]:
    """float64 [rows]: the Jaccard index of two sets, each bool [rows, tokens]."""
    both, either = (chosen & true).sum(1), (chosen | true).sum(1)
    return np.where(either > 0, both / np.maximum(either, 1), 1.0)
