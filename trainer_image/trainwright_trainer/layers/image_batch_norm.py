"""Batch norm of images: each channel over all rows and pixels, and over the rows of all ranks."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

import torch
import torch.nn.functional as F
from torch import nn
from torch.nn.modules.batchnorm import _BatchNorm

from trainwright_trainer.layers.batch_norm import BatchNorm, is_second_computation

_NO_ROWS: ContextVar[bool] = ContextVar("_NO_ROWS", default=False)


class ImageBatchNorm(BatchNorm):
    """[rows, channels, …] → the same shape and dtype. One rank alone uses torch's faster function.

    `after`: what a library's norm does with its result, such as an activation.
    """

    after: nn.Module | None = None

    def forward(self, rows: torch.Tensor) -> torch.Tensor:
        normal = self._for_no_rows(rows) if _NO_ROWS.get() else self._normal(rows)
        return normal if self.after is None else torch.as_tensor(self.after(normal))

    def _normal(self, rows: torch.Tensor) -> torch.Tensor:
        return self._shared(rows) if self.ranks is not None and self.training else self._alone(rows)

    def _for_no_rows(self, rows: torch.Tensor) -> torch.Tensor:
        """A row that does not count: the moments are those of no row, here and in the backward pass."""
        none = self._normal(rows[:0]).sum()
        return (
            F.batch_norm(rows, self.running_mean, self.running_var, self.weight, self.bias, False, 0.0, self.eps) + none
        )

    def _alone(self, rows: torch.Tensor) -> torch.Tensor:
        learns = self.training and rows.numel() > rows.shape[1]  # one value has no variance
        uses_batch = learns or not self.tracks
        mean, variance = self.running_mean, self.running_var
        if not self.tracks or (learns and is_second_computation()):
            return F.batch_norm(rows, None, None, self.weight, self.bias, True, 0.0, self.eps)
        return F.batch_norm(rows, mean, variance, self.weight, self.bias, uses_batch, self.momentum, self.eps)

    def _shared(self, rows: torch.Tensor) -> torch.Tensor:
        last = rows.movedim(1, -1)
        return super().forward(last.reshape(-1, last.shape[-1])).reshape(last.shape).movedim(-1, 1)


@contextmanager
def for_no_rows() -> Iterator[None]:
    """A context in which the rows of a forward pass do not count."""
    token = _NO_ROWS.set(True)
    try:
        yield
    finally:
        _NO_ROWS.reset(token)


def share_norms(module: nn.Module) -> None:
    """Replace torch's batch norms in a library's model by ours, with the same names and values."""
    for name, child in module.named_children():
        if isinstance(child, _BatchNorm):
            setattr(module, name, _ours(child))
        else:
            share_norms(child)


def _ours(norm: _BatchNorm) -> ImageBatchNorm:
    made = ImageBatchNorm(
        norm.num_features,
        eps=norm.eps,
        momentum=0.1 if norm.momentum is None else norm.momentum,
        affine=norm.affine,
        track_running_stats=norm.track_running_stats,
    )
    made.load_state_dict({name: one for name, one in norm.state_dict().items() if name in made.state_dict()})
    parts = [getattr(norm, part) for part in ("drop", "act") if isinstance(getattr(norm, part, None), nn.Module)]
    made.after = nn.Sequential(*parts) if parts else None  # the library timm has norms with an activation
    return made
