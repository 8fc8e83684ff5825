"""Metrics of numbers, in the target's own units: predictions and targets are decoded before they are compared.

(Only the loss is in the normalised units of training.) The percentage errors follow torchmetrics and Ludwig: the
absolute one divides by at least 1.17e-6, the squared one adds 1e-4 to targets that are zero.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import torch

from trainwright_trainer.metrics.base import AnySums, OutputMetrics, Sums

SMALLEST_TARGET = 1.17e-6
INSTEAD_OF_ZERO = 1e-4
ROUNDING = 1e-12
"""Targets whose spread is this share of their squares, or less, are equal: the rest is the rounding of the sums."""


class NumberMetrics(OutputMetrics):
    """Targets and logits are [rows]. The `away` sums are of the targets' differences from the training mean."""

    def __init__(self, feature: Any, statistics: Mapping[str, Any], *, keeps: bool, running: bool) -> None:
        super().__init__(feature, statistics, keeps=keeps, running=running)
        self.needs_cpu = keeps

    def fold(self, logits: torch.Tensor, targets: torch.Tensor) -> AnySums:
        values, truths = self.decoded(logits, targets)
        error = values - truths
        away = truths - self.statistics["mean"]
        return {
            "squared": error.square().sum(),
            "absolute": error.abs().sum(),
            "percentage": (error.abs() / truths.abs().clamp(min=SMALLEST_TARGET)).sum(),
            "squared_percentage": (error / (truths + INSTEAD_OF_ZERO * (truths == 0))).square().sum(),
            "away": away.sum(),
            "away_squared": away.square().sum(),
            "away_absolute": away.abs().sum(),
        }

    def scores(self, sums: Sums) -> dict[str, float]:
        rows = int(sums["rows"])
        squared = float(sums["squared"]) / rows
        found = {
            "mean_squared_error": squared,
            "mean_absolute_error": float(sums["absolute"]) / rows,
            "mean_absolute_percentage_error": float(sums["percentage"]) / rows,
            "root_mean_squared_error": squared**0.5,
            "root_mean_squared_percentage_error": (float(sums["squared_percentage"]) / rows) ** 0.5,
        }
        spread = float(sums["away_squared"]) - float(sums["away"]) ** 2 / rows
        varies = spread > ROUNDING * float(sums["away_squared"])
        return {**found, "r2": 1 - float(sums["squared"]) / spread} if rows > 1 and varies else found

    def decoded(self, logits: torch.Tensor, targets: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """Predictions (clipped, if the output has `clip`) and targets, in the target's own units, float64."""
        values, truths = (self._in_own_units(one.double()) for one in (logits, targets))
        return values if self.feature.clip is None else values.clamp(*self.feature.clip), truths

    def _in_own_units(self, encoded: torch.Tensor) -> torch.Tensor:
        """As `features.number.decode`, on any device."""
        if self.statistics["normalization"] == "log1p":
            return torch.expm1(encoded)
        return encoded * float(self.statistics["scale"]) + float(self.statistics["shift"])
