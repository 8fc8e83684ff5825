"""Training with one error each, of the kinds that a strategy can have. The parity law must detect all of them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from unittest.mock import patch

import torch
from torch import nn

from trainwright_trainer.loader.materialised import Materialised
from trainwright_trainer.strategies import ddp, fsdp
from trainwright_trainer.strategies.ddp import Ddp
from trainwright_trainer.strategies.fsdp import Fsdp

from .sum_after_backward import SumAfterBackward

GLOBAL_ROWS = 64


class AveragedPerRank(Ddp):
    """Each rank's loss is the mean of its own rows, although the ranks have different numbers of rows."""

    def forward(self, batch: Any, *, last: bool) -> Any:
        self._share = GLOBAL_ROWS / (max(len(batch.rows), 1) * self.ranks.world)
        return super().forward(batch, last=last)

    def accumulate(self, loss: torch.Tensor) -> None:
        super().accumulate(loss * self._share)


class SkippedSum(SumAfterBackward):
    """The gradient of one parameter is not summed."""

    def _summed(self) -> list[nn.Parameter]:
        return super()._summed()[1:]


class LocalNorm(Fsdp):
    """Gradients are clipped by the norm of this rank's shards."""

    def _norms(self, gradients: list[torch.Tensor]) -> torch.Tensor:
        return torch.stack([one.norm() for one in gradients])


@contextmanager
def a_row_is_dropped() -> Iterator[None]:
    real = Materialised.epoch

    def dropping(*arguments: Any) -> Iterator[Any]:
        for batch in real(*arguments):
            yield batch.part(slice(1, None))

    with patch.object(Materialised, "epoch", dropping):
        yield


@contextmanager
def evaluation_is_padded() -> Iterator[None]:
    """A rank without a batch evaluates the first one again."""
    real = Materialised.unordered

    def padded(loader: Materialised, size: int, rows: int, first: int, last: int) -> Iterator[Any]:
        return real(loader, size, rows, first, max(last, first + 1))

    with patch.object(Materialised, "unordered", padded):
        yield


@contextmanager
def batch_norm_is_not_shared() -> Iterator[None]:
    with patch.object(ddp, "share_batch_norm"), patch.object(fsdp, "share_batch_norm"):
        yield
