"""Metrics of vectors: means over all values of all rows. R² is computed for each position of the vector and averaged
over the positions whose targets vary."""

from __future__ import annotations

import numpy as np
import torch

from trainwright_trainer.metrics.base import OutputMetrics, Sums
from trainwright_trainer.metrics.number import ROUNDING
from trainwright_trainer.models.units import vectors


class VectorMetrics(OutputMetrics):
    """Targets and logits are [rows, size]. The `away` sums are of the targets' differences from the training means."""

    def fold(self, logits: torch.Tensor, targets: torch.Tensor) -> Sums:
        truths = targets.double().numpy()
        error = vectors(self.feature, logits.numpy()) - truths
        away = truths - np.asarray(self.statistics["mean"])
        return {
            "squared": np.square(error).sum(0),
            "absolute": np.abs(error).sum(0),
            "away": away.sum(0),
            "away_squared": np.square(away).sum(0),
            "away_absolute": np.abs(away).sum(0),
        }

    def scores(self, sums: Sums) -> dict[str, float]:
        rows = int(sums["rows"])
        squared = float(np.mean(sums["squared"])) / rows
        found = {
            "mean_squared_error": squared,
            "mean_absolute_error": float(np.mean(sums["absolute"])) / rows,
            "root_mean_squared_error": squared**0.5,
        }
        spread = sums["away_squared"] - np.square(sums["away"]) / rows
        varies = spread > ROUNDING * sums["away_squared"]
        if rows < 2 or not varies.any():
            return found
        return {**found, "r2": float(np.mean(1 - sums["squared"][varies] / spread[varies]))}
