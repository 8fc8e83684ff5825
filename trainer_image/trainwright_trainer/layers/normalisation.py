"""Batch and layer norm. Batch norm is our own, because torch's cannot be shared between ranks without CUDA.

It also refuses a batch of one row, which the last batch of an epoch may well be. Ours normalises such a row by the
running statistics, as in evaluation, and leaves them as they are: one row has no variance to learn from.
"""

from __future__ import annotations

from collections.abc import Mapping

import torch
from torch import nn

from trainwright_api.config.layers import NormParams


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
        if self.tracks and (not self.training or len(x) < 2):
            return self.running_mean, self.running_var
        variance, mean = torch.var_mean(x, dim=0, correction=0)
        if self.tracks:
            self._learn(mean.detach(), variance.detach(), len(x))
        return mean, variance

    @torch.no_grad()
    def _learn(self, mean: torch.Tensor, variance: torch.Tensor, rows: int) -> None:
        self.running_mean.lerp_(mean, self.momentum)
        self.running_var.lerp_(variance * (rows / (rows - 1)), self.momentum)


# Ghost norm is refused before a model is built.
NORMS: Mapping[str, type[nn.Module]] = {"batch": BatchNorm, "layer": nn.LayerNorm}


def norm(word: str | None, features: int, parameters: NormParams | None) -> nn.Module | None:
    """The norm that a config names: `batch`, `layer` or null."""
    return None if word is None else NORMS[word](features, **(parameters.arguments() if parameters else {}))


def has_batch_norm(model: nn.Module) -> bool:
    """Whether rows of a batch see each other in it."""
    return any(isinstance(module, BatchNorm) for module in model.modules())
