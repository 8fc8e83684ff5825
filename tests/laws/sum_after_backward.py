"""A strategy that exists in tests only: one all-reduce for each parameter, after the backward pass.

It shows that a strategy is one file, and it is an independent oracle for the others.
"""

from __future__ import annotations

from typing import cast

from torch import nn

from trainwright_trainer.layers.batch_norm import share_batch_norm
from trainwright_trainer.strategies.precision import Forward
from trainwright_trainer.strategies.torch_engine import TorchEngine


class SumAfterBackward(TorchEngine):
    """Each rank has all parameters. Gradients are summed right before the update."""

    def _wrapped(self, model: Forward) -> Forward:
        share_batch_norm(cast(nn.Module, self.model), self.ranks)
        return model

    def _summed(self) -> list[nn.Parameter]:
        """The parameters whose gradients are summed."""
        return list(self._parameters.values())

    def update(self, rate: float) -> None:
        for parameter in self._summed():
            if parameter.grad is not None:
                parameter.grad = self.ranks.sum(parameter.grad)
        super().update(rate)
