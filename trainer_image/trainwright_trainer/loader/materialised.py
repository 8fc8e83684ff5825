"""The loader that holds all its rows in memory."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import torch

from trainwright_trainer.loader.batch import Batch
from trainwright_trainer.loader.cut import Cut
from trainwright_trainer.loader.encoded_rows import EncodedRows
from trainwright_trainer.loader.epoch_order import EpochOrder

# Rows that are gathered at a time, so that they stay in a core's cache.
_GATHER_ROWS = 16_384


@dataclass(frozen=True)
class Materialised:
    """A `Loader` of rows in memory. `order`: the order of its epochs."""

    held: EncodedRows
    order: EpochOrder
    device: torch.device | None = None

    def __len__(self) -> int:
        return len(self.held)

    def sequential(self, size: int, start: int = 0, stop: int | None = None) -> Iterator[Batch]:
        end = len(self) if stop is None else min(stop, len(self))
        for first in range(start, end, size):
            yield self.held.part(first, min(first + size, end)).on(self.device)

    def epoch(self, epoch: int, from_row: int, cut: Cut) -> Iterator[Batch]:
        """Slices of several small batches are gathered at once, so that each step gets cheap views."""
        positions = self.order.positions(epoch, self.held.rows)
        bounds = cut.bounds(len(self), from_row)
        together = 1 if self.held.images else max(1, _GATHER_ROWS // cut.global_rows)
        for start in range(0, len(bounds), together):
            yield from self._gathered(positions, bounds[start : start + together])

    def _gathered(self, positions: npt.NDArray[np.int64], bounds: list[tuple[int, int]]) -> Iterator[Batch]:
        chosen = positions[bounds[0][0] : bounds[-1][1]]
        if len(chosen) != sum(stop - start for start, stop in bounds):
            chosen = np.concatenate([positions[start:stop] for start, stop in bounds])
        there = self.held.take(chosen).on(self.device)
        done = 0
        for start, stop in bounds:
            yield there.part(slice(done, done + stop - start))
            done += stop - start
