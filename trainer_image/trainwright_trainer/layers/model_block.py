"""A part of a model that a sharded engine gathers on its own, and that the backward pass may compute again."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import nn
from torch.utils.checkpoint import checkpoint

from trainwright_trainer.layers.batch_norm import twice


class ModelBlock(nn.Module):
    """Subclasses implement `compute`, a function of tensors. Blocks do not share parameters.

    `recomputes`: keep only the inputs for the backward pass, which computes the block again.
    """

    compute: Callable[..., Any]

    def __init__(self) -> None:
        super().__init__()
        self.recomputes = False

    def forward(self, *inputs: torch.Tensor) -> Any:
        if not (self.recomputes and torch.is_grad_enabled()):
            return self.compute(*inputs)
        return checkpoint(self.compute, *inputs, use_reentrant=False, context_fn=twice)
