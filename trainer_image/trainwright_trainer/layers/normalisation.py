"""Batch and layer norm. Batch norm is our own, because torch's cannot be shared between ranks without CUDA.

It also refuses a batch of one row, which the last batch of an epoch may well be. Ours normalises such a row by the
running statistics, as in evaluation, and leaves them as they are: one row has no variance to learn from.

Between ranks the rows of a global batch are one batch: each rank adds its rows' moments, weighted by their number.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol

import torch
from torch import nn
from torch.autograd.function import once_differentiable

from trainwright_api.config.layers import NormParams


class Ranks(Protocol):
    """How the ranks that share a batch meet. Each calls both in the same order."""

    def stack(self, own: torch.Tensor) -> torch.Tensor:
        """[ranks, …]: what each has, in their order."""
        ...

    def sum(self, own: torch.Tensor) -> torch.Tensor: ...


class BatchNorm(nn.Module):
    """Each column to mean 0 and variance 1 over the rows of the batch, then scaled and shifted by learnt parameters.

    [rows, features] → the same shape and dtype. The parameters and the law of the running statistics are those of
    `torch.nn.BatchNorm1d`: the variance of the batch is over n, that which enters the running one is over n - 1.
    Without running statistics every batch stands for itself, in evaluation too.
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
        if self.weight is not None and self.bias is not None:
            normal = torch.addcmul(self.bias, normal, self.weight)
        return normal.to(rows.dtype)

    def _moments(self, x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """The mean and the variance to normalise by: [features] each."""
        if self.ranks is not None and self.training:
            return self._shared_moments(x, self.ranks)
        if self.tracks and (not self.training or len(x) < 2):
            return self.running_mean, self.running_var
        variance, mean = torch.var_mean(x, dim=0, correction=0)
        if self.tracks:
            self._learn(mean.detach(), variance.detach() * (len(x) / (len(x) - 1)), self.momentum)
        return mean, variance

    def _shared_moments(self, x: torch.Tensor, ranks: Ranks) -> tuple[torch.Tensor, torch.Tensor]:
        """The same of all ranks' rows. How many these are is known on the device alone, where nobody waits for it."""
        mean, variance, rows = _SharedMoments.apply(x, ranks)
        if not self.tracks:
            return mean, variance
        several = rows > 1
        unbiased = variance.detach() * (rows / (rows - 1).clamp(min=1))
        self._learn(mean.detach(), unbiased, several.to(x.dtype) * self.momentum)
        return torch.where(several, mean, self.running_mean), torch.where(several, variance, self.running_var)

    @torch.no_grad()
    def _learn(self, mean: torch.Tensor, unbiased: torch.Tensor, momentum: float | torch.Tensor) -> None:
        self.running_mean.lerp_(mean, momentum)
        self.running_var.lerp_(unbiased, momentum)


class _SharedMoments(torch.autograd.Function):
    """[rows, features] of this rank → the mean and the variance of all ranks' rows, and the number of these."""

    @staticmethod
    def forward(ctx: Any, x: torch.Tensor, ranks: Ranks) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        own = x.sum(0) / max(len(x), 1)
        parts = ranks.stack(torch.cat([x.new_tensor([len(x)]), own, (x - own).square().sum(0)]))
        counts, (means, squares) = parts[:, :1], parts[:, 1:].chunk(2, dim=1)
        rows = counts.sum()
        mean = (counts * means).sum(0) / rows
        variance = (squares + counts * (means - mean).square()).sum(0) / rows
        ctx.save_for_backward(x, mean, rows)
        ctx.ranks = ranks
        ctx.mark_non_differentiable(rows)
        return mean, variance, rows

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, of_mean: torch.Tensor, of_variance: torch.Tensor, _: Any) -> tuple[torch.Tensor, None]:
        """Every rank's loss depends on the moments: what each wants of them is added up first."""
        x, mean, rows = ctx.saved_tensors
        of_mean, of_variance = ctx.ranks.sum(torch.cat([of_mean, of_variance])).chunk(2)
        return (of_mean + 2 * of_variance * (x - mean)) / rows, None


# Ghost norm is refused before a model is built.
NORMS: Mapping[str, type[nn.Module]] = {"batch": BatchNorm, "layer": nn.LayerNorm}


def norm(word: str | None, features: int, parameters: NormParams | None) -> nn.Module | None:
    """The norm that a config names: `batch`, `layer` or null."""
    return None if word is None else NORMS[word](features, **(parameters.arguments() if parameters else {}))


def has_batch_norm(model: nn.Module) -> bool:
    """Whether rows of a batch see each other in it."""
    return any(isinstance(module, BatchNorm) for module in model.modules())


def share_batch_norm(model: nn.Module, ranks: Ranks) -> None:
    """Lets the batch norms of `model` see the rows of all ranks."""
    for module in model.modules():
        if isinstance(module, BatchNorm):
            module.ranks = ranks
