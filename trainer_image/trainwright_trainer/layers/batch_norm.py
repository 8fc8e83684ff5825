"""Batch norm. It is our own, because torch's cannot be shared between ranks without CUDA.

torch's batch norm also rejects a batch of one row, which can be the last batch of an epoch. Ours normalises such a row
by the running statistics, as in evaluation, and does not update them: one row has no variance.

With several ranks the rows of a global batch are one batch: the ranks' moments are combined, weighted by their rows.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import nn
from torch.autograd.function import once_differentiable

from trainwright_trainer.distributed.ranks import Ranks


class BatchNorm(nn.Module):
    """Normalises each column to mean 0 and variance 1 over the rows of the batch; learnt parameters scale and shift it.

    [rows, features] → the same shape and dtype. The parameters and the update of the running statistics are those of
    `torch.nn.BatchNorm1d`: the batch is normalised by the variance over n, and the running variance is updated with the
    variance over n - 1. Without running statistics every batch uses its own moments, in evaluation too.
    """

    def __init__(
        self,
        features: int,
        *,
        eps: float = 1e-5,
        momentum: float = 0.1,
        affine: bool = True,
        track_running_stats: bool = True,
    ) -> None:
        super().__init__()
        self.eps, self.momentum, self.tracks = eps, momentum, track_running_stats
        self.ranks: Ranks | None = None
        self.weight = nn.Parameter(torch.ones(features)) if affine else None
        self.bias = nn.Parameter(torch.zeros(features)) if affine else None
        self.running_mean: torch.Tensor
        self.running_var: torch.Tensor
        self.register_buffer("running_mean", torch.zeros(features), persistent=track_running_stats)
        self.register_buffer("running_var", torch.ones(features), persistent=track_running_stats)

    def forward(self, rows: torch.Tensor) -> torch.Tensor:
        x = rows.to(self.running_mean.dtype)
        mean, variance = self._moments(x)
        normal = (x - mean) * torch.rsqrt(variance + self.eps)
        return self._scaled(normal).to(rows.dtype)

    def _scaled(self, normal: torch.Tensor) -> torch.Tensor:
        if self.weight is None or self.bias is None:
            return normal
        return torch.addcmul(self.bias, normal, self.weight)

    def _moments(self, x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """The mean and the variance for the normalisation: [features] each."""
        if self.ranks is not None and self.training:
            return self._shared_moments(x, self.ranks)
        if self.tracks and (not self.training or len(x) < 2):
            return self.running_mean, self.running_var
        variance, mean = torch.var_mean(x, dim=0, correction=0)
        if self.tracks:
            self._learn(mean.detach(), variance.detach() * (len(x) / (len(x) - 1)), self.momentum)
        return mean, variance

    def _shared_moments(self, x: torch.Tensor, ranks: Ranks) -> tuple[torch.Tensor, torch.Tensor]:
        """The same over all ranks' rows. Their number stays on the device, so that the host does not wait for it."""
        mean, variance, rows = _SharedMoments.apply(x, ranks)
        if not self.tracks:
            return mean, variance
        several = rows > 1
        unbiased = variance.detach() * (rows / (rows - 1).clamp(min=1))
        self._learn(mean.detach(), unbiased, several.to(x.dtype) * self.momentum)
        return torch.where(several, mean, self.running_mean), torch.where(several, variance, self.running_var)

    @torch.no_grad()
    def _learn(self, mean: torch.Tensor, unbiased: torch.Tensor, momentum: float | torch.Tensor) -> None:
        if is_second_computation():
            return
        self.running_mean.lerp_(mean, momentum)
        self.running_var.lerp_(unbiased, momentum)


class _SharedMoments(torch.autograd.Function):
    """[rows, features] of this rank → the mean and the variance of all ranks' rows, and the number of these rows."""

    @staticmethod
    def forward(ctx: Any, x: torch.Tensor, ranks: Ranks) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        mean, variance, rows = _once(lambda: _moments_of_all(x, ranks))
        ctx.save_for_backward(x, mean, rows)
        ctx.ranks = ranks
        ctx.mark_non_differentiable(rows)
        return mean, variance, rows

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, of_mean: torch.Tensor, of_variance: torch.Tensor, _: Any) -> tuple[torch.Tensor, None]:
        """Every rank's loss depends on the moments, so their gradients are first summed over all ranks."""
        x, mean, rows = ctx.saved_tensors
        of_mean, of_variance = ctx.ranks.sum(torch.cat([of_mean, of_variance])).chunk(2)
        return (of_mean + 2 * of_variance * (x - mean)) / rows, None


def _moments_of_all(x: torch.Tensor, ranks: Ranks) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    own = x.sum(0) / max(len(x), 1)
    parts = ranks.stack(torch.cat([x.new_tensor([len(x)]), own, (x - own).square().sum(0)]))
    counts, (means, squares) = parts[:, :1], parts[:, 1:].chunk(2, dim=1)
    rows = counts.sum()
    mean = (counts * means).sum(0) / rows
    variance = (squares + counts * (means - mean).square()).sum(0) / rows
    return mean, variance, rows


Moments = tuple[torch.Tensor, ...]


@dataclass
class _Computation:
    """One of the two computations of the same layers. `shared`: the shared moments that the second will take."""

    shared: list[Moments] = field(default_factory=list)
    is_second: bool = False


_COMPUTATION: ContextVar[_Computation | None] = ContextVar("_COMPUTATION", default=None)


def twice() -> tuple[AbstractContextManager[None], AbstractContextManager[None]]:
    """Contexts around the first and the second computation of the same layers, for activation checkpointing.

    In the second, batch norms do not update their running statistics, and take the shared moments of the first: the
    ranks need not be at the same place again.
    """
    shared: list[Moments] = []
    return _computing(_Computation(shared)), _computing(_Computation(shared, is_second=True))


def is_second_computation() -> bool:
    """True in the second computation of `twice`."""
    computation = _COMPUTATION.get()
    return computation is not None and computation.is_second


@contextmanager
def _computing(computation: _Computation) -> Iterator[None]:
    token = _COMPUTATION.set(computation)
    try:
        yield
    finally:
        _COMPUTATION.reset(token)


def _once(compute: Callable[[], Moments]) -> Moments:
    """The result of `compute`; in a second computation, the result of the first."""
    computation = _COMPUTATION.get()
    if computation is None:
        return compute()
    if computation.is_second:
        return computation.shared.pop(0)
    found = compute()
    computation.shared.append(tuple(one.detach() for one in found))
    return found


def share_batch_norm(model: nn.Module, ranks: Ranks) -> None:
    """Make the batch norms of `model` use the rows of all ranks."""
    for module in model.modules():
        if isinstance(module, BatchNorm):
            module.ranks = ranks
