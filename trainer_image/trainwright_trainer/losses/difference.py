"""Losses of numbers and vectors, from the differences between values and targets, both in normalised units.

The loss of a vector's row is the mean over its values. Percentage losses become huge for targets near zero. As in
Ludwig (whose percentage losses are torchmetrics' and `rmspe_loss`), the absolute one divides by at least 1.17e-6, and
the squared one adds 1e-4 to targets that are zero.
"""

from __future__ import annotations

import torch
import torch.nn.functional as F

from trainwright_api.config.losses import Huber as HuberConfig
from trainwright_api.config.losses import Loss as LossConfig
from trainwright_trainer.losses.base import Loss

SMALLEST_TARGET = 1.17e-6
INSTEAD_OF_ZERO = 1e-4


class Difference(Loss):
    def __init__(self, config: LossConfig) -> None:
        super().__init__(config.weight)

    def rows(self, logits: torch.Tensor, targets: torch.Tensor) -> torch.Tensor:
        values = self.values(logits, targets)
        return values if values.ndim == 1 else values.mean(1)

    def values(self, logits: torch.Tensor, targets: torch.Tensor) -> torch.Tensor:
        """One value for each value of the target."""
        raise NotImplementedError


class MeanSquaredError(Difference):
    """(value - target)²"""

    def unit(self, spread: float | None) -> float:
        return 1.0 if spread is None else spread**2

    def values(self, logits: torch.Tensor, targets: torch.Tensor) -> torch.Tensor:
        return F.mse_loss(logits, targets, reduction="none")


class MeanAbsoluteError(Difference):
    """|value - target|"""

    def unit(self, spread: float | None) -> float:
        return 1.0 if spread is None else spread

    def values(self, logits: torch.Tensor, targets: torch.Tensor) -> torch.Tensor:
        return F.l1_loss(logits, targets, reduction="none")


class MeanAbsolutePercentageError(Difference):
    """|value - target| / max(|target|, 1.17e-6)"""

    def values(self, logits: torch.Tensor, targets: torch.Tensor) -> torch.Tensor:
        return (logits - targets).abs() / targets.abs().clamp(min=SMALLEST_TARGET)


class RootMeanSquaredError(MeanSquaredError):
    """√mean((value - target)²)"""

    def unit(self, spread: float | None) -> float:
        return 1.0 if spread is None else spread

    def finish(self, mean: torch.Tensor) -> torch.Tensor:
        return root(mean)


class RootMeanSquaredPercentageError(Difference):
    """√mean(((value - target) / target)²)"""

    def values(self, logits: torch.Tensor, targets: torch.Tensor) -> torch.Tensor:
        return ((logits - targets) / (targets + INSTEAD_OF_ZERO * (targets == 0))).square()

    def finish(self, mean: torch.Tensor) -> torch.Tensor:
        return root(mean)


class Huber(Difference):
    """Half the squared difference up to `delta`, linear beyond it."""

    def __init__(self, config: HuberConfig) -> None:
        super().__init__(config)
        self.delta = config.delta

    def unit(self, spread: float | None) -> float:
        return 1.0 if spread is None else min(spread**2 / 2, self.delta * spread)

    def values(self, logits: torch.Tensor, targets: torch.Tensor) -> torch.Tensor:
        return F.huber_loss(logits, targets, reduction="none", delta=self.delta)


def root(mean: torch.Tensor) -> torch.Tensor:
    """The square root, with slope 1 instead of infinity at zero, so a batch without any error has gradient zero."""
    return torch.where(mean > 0, mean.clamp(min=torch.finfo(mean.dtype).tiny).sqrt(), mean)
