"""Ghost norm: batch norm over virtual batches, small parts of a global batch, each normalised by its own moments.

Source: Hoffer, Hubara, Soudry, "Train longer, generalize better", 2017; the defaults are Ludwig's.

Virtual batches are cut from the global batch, and every rank's passes hold whole ones. So the forward pass needs no
exchange between ranks, and the curve does not depend on their number. The running statistics are updated once a step:
the ranks' sums travel with the sum of the loss.
"""

from __future__ import annotations

import torch
from torch import nn

from trainwright_trainer.layers.batch_norm import BatchNorm, is_second_computation


class GhostNorm(BatchNorm):
    """[rows, features] → the same shape and dtype. In evaluation it normalises by the running statistics.

    In training `virtual_rows` rows are one virtual batch; the last one can be smaller. One row alone has no variance:
    it is normalised by the running statistics.
    """

    def __init__(
        self, features: int, *, epsilon: float = 1e-3, momentum: float = 0.05, virtual_batch_size: int = 128
    ) -> None:
        super().__init__(features, eps=epsilon, momentum=momentum)
        self.virtual_batch_size = self.virtual_rows = virtual_batch_size
        self._sums: torch.Tensor | None = None

    def forward(self, rows: torch.Tensor) -> torch.Tensor:
        if not self.training:
            return super().forward(rows)
        x = rows.to(self.running_mean.dtype)
        last = len(x) % self.virtual_rows
        whole, rest = x[: len(x) - last], x[len(x) - last :]
        groups = (whole.view(-1, self.virtual_rows, x.shape[1]), rest.unsqueeze(0))
        normal = torch.cat([self._normalised(group) for group in groups if group.numel()]) if len(x) else x
        return self._scaled(normal).to(rows.dtype)

    def _normalised(self, x: torch.Tensor) -> torch.Tensor:
        """[virtual batches, rows, features] → [virtual batches × rows, features], each normalised by its moments."""
        rows = x.shape[1]
        if rows < 2:
            mean, variance = self.running_mean, self.running_var
        else:
            variance, mean = torch.var_mean(x, dim=1, correction=0, keepdim=True)
            self._add(mean.detach(), variance.detach() * (rows / (rows - 1)))
        return ((x - mean) * torch.rsqrt(variance + self.eps)).flatten(0, 1)

    @torch.no_grad()
    def _add(self, mean: torch.Tensor, unbiased: torch.Tensor) -> None:
        if self._sums is not None and not is_second_computation():
            number = mean.new_tensor([float(len(mean))])
            self._sums += torch.cat([number, mean.sum((0, 1)), unbiased.sum((0, 1))])

    def begin(self, virtual_rows: int) -> None:
        """Begin a step whose virtual batches have `virtual_rows` rows."""
        self.virtual_rows = virtual_rows
        self._sums = self.running_mean.new_zeros(self.number_of_sums)

    @property
    def number_of_sums(self) -> int:
        return 1 + 2 * len(self.running_mean)

    def sums(self) -> torch.Tensor:
        """The number of this rank's virtual batches in the step, the sum of their means, and that of their variances:
        [1 + 2 × features]."""
        assert self._sums is not None
        return self._sums

    @torch.no_grad()
    def learn(self, sums: torch.Tensor) -> None:
        """Update the running statistics with the sums of all ranks. n virtual batches count as n updates with their
        mean, so their order does not matter."""
        number, means, variances = torch.split(sums.to(self.running_mean), [1, *2 * [len(self.running_mean)]])
        weight = (1 - (1 - self.momentum) ** number) / number.clamp(min=1)
        self.running_mean.mul_(1 - weight * number).add_(weight * means)
        self.running_var.mul_(1 - weight * number).add_(weight * variances)


class GhostNorms:
    """The ghost norms of a model, for the training step."""

    def __init__(self, model: nn.Module) -> None:
        self._layers = [module for module in model.modules() if isinstance(module, GhostNorm)]

    def __bool__(self) -> bool:
        return bool(self._layers)

    def begin(self, virtual_rows: int) -> None:
        for layer in self._layers:
            layer.begin(virtual_rows)

    def sums(self) -> list[torch.Tensor]:
        return [layer.sums() for layer in self._layers]

    def learn(self, sums: torch.Tensor) -> None:
        """`sums`: those of all layers, one after the other."""
        parts = torch.split(sums, [layer.number_of_sums for layer in self._layers])
        for layer, own in zip(self._layers, parts, strict=True):
            layer.learn(own)
