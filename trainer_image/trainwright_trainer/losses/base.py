"""The base class of losses: one value a row, and a last step on their mean.

The loop sums the rows of all slices and divides by the rows of the global batch, so a loss never averages. A loss of
tokens is divided by the tokens of the global batch instead. With class weights the loss is therefore the weighted sum
divided by the number of rows or tokens. torch's own `mean` divides by the sum of the weights instead, which would
depend on how a batch is cut.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import ClassVar

import torch
from torch import nn


class Loss(nn.Module, ABC):
    """`weight` is this loss's factor in the total.

    `counts_tokens`: a row has the sum over its tokens, and the mean of a batch is one over all its tokens.
    """

    counts_tokens: ClassVar[bool] = False

    def __init__(self, weight: float) -> None:
        super().__init__()
        self.weight = weight

    @abstractmethod
    def rows(self, logits: torch.Tensor, targets: torch.Tensor) -> torch.Tensor:
        """[rows]. `logits` and `targets` are [rows], [rows, width], or [rows, classes] and int64 [rows]."""

    def unit(self, spread: float | None) -> float:  # noqa: ARG002
        """The approximate mean of the rows before training. `spread`: the standard deviation of a number.

        The unit of a loss of classes is 1.
        """
        return 1.0

    def finish(self, mean: torch.Tensor) -> torch.Tensor:
        """The term in the total for the mean of the rows: the mean itself, except for losses that are roots."""
        return mean
