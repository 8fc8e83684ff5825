"""What every loss is: one value a row, and a last step on their mean.

The loop sums the rows and divides by the rows of the global batch, whatever the slices; so a loss never averages. A
class weight therefore makes a weighted sum over the rows divided by their number, where torch's own `mean` would divide
by the sum of the weights. That one would depend on how a batch is cut.
"""

from __future__ import annotations

from abc import ABC, abstractmethod

import torch
from torch import nn


class Loss(nn.Module, ABC):
    """`weight` is this loss's factor in the total."""

    def __init__(self, weight: float) -> None:
        super().__init__()
        self.weight = weight

    @abstractmethod
    def rows(self, logits: torch.Tensor, targets: torch.Tensor) -> torch.Tensor:
        """[rows]. `logits` and `targets` are [rows], [rows, width], or [rows, classes] and int64 [rows]."""

    def unit(self, spread: float | None) -> float:  # noqa: ARG002
        """About what the mean of the rows is before anything is learnt; `spread`: the standard deviation of a number.

        A loss of classes has no unit.
        """
        return 1.0

    def finish(self, mean: torch.Tensor) -> torch.Tensor:
        """What the mean of the rows becomes in the total: itself, but for roots."""
        return mean
