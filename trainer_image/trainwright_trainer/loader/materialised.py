"""The loader that holds all its rows in memory."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import partial

import numpy as np
import numpy.typing as npt
import torch

from trainwright_trainer.loader.ahead import ahead
from trainwright_trainer.loader.batch import Batch
from trainwright_trainer.loader.buckets import bucketed
from trainwright_trainer.loader.by_length import by_length
from trainwright_trainer.loader.cut import Bounds, Cut
from trainwright_trainer.loader.device import copied_ahead
from trainwright_trainer.loader.encoded_rows import EncodedRows
from trainwright_trainer.loader.epoch_order import EpochOrder
from trainwright_trainer.loader.gpu import is_gpu

Positions = npt.NDArray[np.int64]
Order = tuple[Positions, Positions | None]
"""The positions of an epoch's rows, and their source row numbers, if they are known already."""
# Rows that are gathered at a time, so that they stay in a core's cache.
_GATHER_ROWS = 16_384


@dataclass(frozen=True)
class Materialised:
    """A `Loader` of rows in memory. `order`: the order of its epochs.

    `ahead`: a thread gathers the next rows and sorts the next epoch in the meantime. That is for a device that computes
    beside the CPU; on the CPU it would only take time from the steps.
    """

    held: EncodedRows
    order: EpochOrder
    device: torch.device | None = None
    ahead: bool = False
    _orders: dict[int, Future[Order]] = field(default_factory=dict, init=False, repr=False, compare=False)

    def __len__(self) -> int:
        return len(self.held)

    def sequential(self, size: int, start: int = 0, stop: int | None = None) -> Iterator[Batch]:
        end = len(self) if stop is None else min(stop, len(self))
        return copied_ahead(self._sequential(size, start, end), self.device)

    def unordered(self, size: int, rows: int, first: int, last: int) -> Iterator[Batch]:
        if self.held.images or not self.held.ragged:
            return self.sequential(size, first * size, min(last * size, rows))
        return copied_ahead(by_length(self._sequential, size, rows, first, last), self.device)

    def _sequential(self, size: int, start: int, stop: int) -> Iterator[Batch]:
        return (self.held.part(first, min(first + size, stop)) for first in range(start, stop, size))

    def epoch(self, epoch: int, from_row: int, cut: Cut) -> Iterator[Batch]:
        """Slices of several small batches are gathered at once, so that each step gets cheap views."""
        bounds = cut.bounds(len(self), from_row)
        together = 1 if self.held.images else max(1, _GATHER_ROWS // cut.global_rows)
        groups = [bounds[start : start + together] for start in range(0, len(bounds), together)]
        order = self._order(epoch)
        if self.order.bucketing is not None:
            lengths = self.held.lengths(self.order.bucketing)
            order = bucketed(order[0], lengths, cut.global_rows, self.order.seed, epoch), None
        gathered: Iterator[Batch] = map(partial(self._gathered, order), groups)
        if self.ahead and self.device is None:
            gathered = ahead(gathered)
        for group, rows in zip(groups, copied_ahead(gathered, self.device), strict=True):
            done = 0
            for start, stop in group:
                yield rows.part(slice(done, done + stop - start))
                done += stop - start

    def _order(self, epoch: int) -> Order:
        if not self.ahead:
            return self.order.positions(epoch, self.held.rows), None
        sorter = ThreadPoolExecutor(1, thread_name_prefix="order")
        known = self._orders.pop(epoch, None) or sorter.submit(self._sorted, epoch)
        self._orders.clear()
        self._orders[epoch + 1] = sorter.submit(self._sorted, epoch + 1)
        sorter.shutdown(wait=False)
        return known.result()

    def _sorted(self, epoch: int) -> Order:
        """To look up the row numbers of a batch takes a core as long as the rest of its work, so it is done ahead."""
        positions = self.order.positions(epoch, self.held.rows, self.device)
        rows = torch.from_numpy(self.held.rows).gather(0, torch.from_numpy(positions))  # on several cores
        return positions, rows.numpy()

    def _gathered(self, order: Order, bounds: list[Bounds]) -> Batch:
        positions, rows = order
        known = None if rows is None else _those_in(rows, bounds)
        return self.held.take(_those_in(positions, bounds), known, pinned=is_gpu(self.device))


def _those_in(rows: Positions, bounds: list[Bounds]) -> Positions:
    """The rows in ascending bounds; a view where these follow each other."""
    first, last = bounds[0][0], bounds[-1][1]
    if last - first == sum(stop - start for start, stop in bounds):
        return rows[first:last]
    return np.concatenate([rows[start:stop] for start, stop in bounds])
