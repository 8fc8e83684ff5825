"""The loader that reads its rows window by window, for data that do not fit in memory.

A rank holds only its own rows of a window. While it serves them, a thread reads those of the next window.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cached_property, partial
from itertools import accumulate, pairwise

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import torch

from trainwright_trainer.data.prepared import Prepared
from trainwright_trainer.features.tokens import lengths_of
from trainwright_trainer.loader.ahead import spare_cores
from trainwright_trainer.loader.batch import Batch, ColumnRange, Layout, joined
from trainwright_trainer.loader.buckets import bucketed
from trainwright_trainer.loader.by_length import by_length
from trainwright_trainer.loader.cut import Bounds, Cut
from trainwright_trainer.loader.device import computes_beside_the_cpu, copied_ahead
from trainwright_trainer.loader.encoded_rows import encoded_rows
from trainwright_trainer.loader.epoch_order import EpochOrder

Positions = npt.NDArray[np.int64]
Arrange = Callable[[Positions, int], Positions]
"""The rows of a window, ascending, and the place of its first one in the epoch → their positions in the order in which
they are served."""


@dataclass(frozen=True)
class Windowed:
    """A `Loader` of the rows of one part of `prepared`. `order.window_rows`: the source rows of a window."""

    prepared: Prepared
    part: int
    layout: Layout
    dtype: torch.dtype
    order: EpochOrder
    device: torch.device | None = None

    def __len__(self) -> int:
        return int(self._sizes.sum())

    def epoch(self, epoch: int, from_row: int, cut: Cut) -> Iterator[Batch]:
        """A batch is a view of its window, or a copy where it lies in several."""
        windows = self.order.windows(epoch, len(self._sizes))
        bounds = cut.bounds(len(self), from_row)
        return copied_ahead(self._served(partial(self._arranged, epoch, cut.global_rows), windows, bounds), self.device)

    def sequential(self, size: int, start: int = 0, stop: int | None = None) -> Iterator[Batch]:
        end = len(self) if stop is None else min(stop, len(self))
        return copied_ahead(self._sequential(size, start, end), self.device)

    def unordered(self, size: int, rows: int, first: int, last: int) -> Iterator[Batch]:
        if self.layout.images or all(place.kind != "ragged" for place in self.layout.columns.values()):
            return self.sequential(size, first * size, min(last * size, rows))
        return copied_ahead(by_length(self._sequential, size, rows, first, last), self.device)

    def _sequential(self, size: int, start: int, stop: int) -> Iterator[Batch]:
        bounds = [(first, min(first + size, stop)) for first in range(start, stop, size)]
        return self._served(_ascending, np.arange(len(self._sizes)), bounds)

    @cached_property
    def _sizes(self) -> Positions:
        """int64 [windows]: the rows of this part in each window, in the order of the source."""
        return self.prepared.counts_of(self.part, self._window_rows)

    @property
    def _window_rows(self) -> int:
        assert self.order.window_rows is not None
        return self.order.window_rows

    def _served(self, arrange: Arrange, windows: Positions, bounds: list[Bounds]) -> Iterator[Batch]:
        """The batches with the bounds `bounds`, ascending positions in the order of `windows`."""
        edges = [0, *accumulate(self._sizes[windows].tolist())]
        reads = [
            partial(self._read, arrange, int(window), edge, own)
            for window, edge, own in zip(windows, edges[:-1], _own(bounds, edges), strict=True)
            if own
        ]
        lengths = [stop - start for start, stop in bounds]
        empty = encoded_rows(self.prepared, self.layout, self.dtype, np.zeros(0, np.int64)).part(0, 0)
        # Batches with images wait for the threads that decode them.
        keeps = bool(self.layout.images)
        yield from _cut(read_ahead(reads, self._spare_cores), lengths, empty, keeps=keeps)

    def _arranged(self, epoch: int, batch: int, rows: Positions, first: int) -> Positions:
        """The order of a window's rows. `batch`: the rows of a global batch."""
        positions = self.order.within(epoch, rows, self.device)
        if self.order.bucketing is None or not len(rows):
            return positions
        place = ColumnRange("ragged", self.order.bucketing, self.order.bucketing + 1)
        name = next(name for name, own in self.layout.columns.items() if own == place)
        column = self.prepared.part(name, int(rows[0]), int(rows[-1]) + 1)
        lengths = lengths_of(pa.concat_arrays(column.chunks))[rows - rows[0]]
        return bucketed(positions, lengths, batch, self.order.seed, epoch, first)

    @property
    def _spare_cores(self) -> int:
        """The cores that no step uses; at least one."""
        return spare_cores() if computes_beside_the_cpu(self.device) else spare_cores(torch.get_num_threads())

    def _read(self, arrange: Arrange, window: int, edge: int, own: list[Bounds], cores: int | None) -> Batch:
        """The rows of a window at the positions `own`, counted from its first row, in the order of `arrange`.

        `edge`: the place of that row in the epoch. `cores`: those that read it; None: all of this process.
        """
        first = window * self._window_rows
        rows = self.prepared.rows_of(self.part, first, first + self._window_rows)
        positions = arrange(rows, edge)
        chosen = np.concatenate([positions[start:stop] for start, stop in own])
        if len(chosen) < len(rows):
            rows, chosen = _those_of(rows, chosen)
        found = encoded_rows(self.prepared, self.layout, self.dtype, rows, chosen, cores=cores)
        return found.part(0, len(found))


def read_ahead(reads: Sequence[Callable[[int | None], Batch]], spare_cores: int) -> Iterator[Batch]:
    """The results of `reads`, in their order. While one is used, a thread reads the next one, and no further one.

    It reads with the cores that no step uses. With all cores (None) are read the first one, and each one that follows
    one for which the steps had to wait.
    """
    if not reads:
        return
    with ThreadPoolExecutor(1, thread_name_prefix="windows") as pool:
        found = reads[0](None)
        waited = False
        for following in reads[1:]:
            ahead = pool.submit(following, None if waited else spare_cores)
            yield found
            del found
            waited = not ahead.done()
            found = ahead.result()
        yield found


def _ascending(rows: Positions, _: int) -> Positions:
    return np.arange(len(rows))


def _those_of(rows: Positions, chosen: Positions) -> tuple[Positions, Positions]:
    """The rows at the positions `chosen`, in the order of `rows`, and the positions of `chosen` in them."""
    found = np.zeros(len(rows), np.bool_)
    found[chosen] = True
    return rows[found], (np.cumsum(found) - 1)[chosen]


def _own(bounds: Sequence[Bounds], edges: Sequence[int]) -> Iterator[list[Bounds]]:
    """For each window [edges[i], edges[i + 1]), the parts of `bounds` in it, counted from its first row."""
    at = 0
    for first, end in pairwise(edges):
        own = []
        while at < len(bounds) and bounds[at][0] < end:
            start, stop = bounds[at]
            if max(start, first) < min(stop, end):
                own.append((max(start, first) - first, min(stop, end) - first))
            if stop > end:
                break
            at += 1
        yield own


def _cut(parts: Iterator[Batch], lengths: Sequence[int], empty: Batch, *, keeps: bool) -> Iterator[Batch]:
    """Batches of `lengths` rows from consecutive parts: views, or copies where they lie in several parts.

    `empty` is a batch without rows. `keeps`: the caller keeps a batch while it asks for the next ones. The last batch
    of a part is then a copy, so that the part is free when the one after the next is read.
    """
    part, done = empty, 0
    for length, following in zip(lengths, [*lengths[1:], None], strict=False):
        batch = part.part(slice(done, done + length))
        done += len(batch.rows)
        while len(batch.rows) < length:
            part = next(parts)
            more = part.part(slice(0, length - len(batch.rows)))
            batch, done = joined([batch, more]) if len(batch.rows) else more, len(more.rows)
            del more  # it holds the part
        # A caller may keep the last batch of an epoch while the next epoch begins.
        if following is None or (keeps and len(part.rows) - done < following):
            batch = joined([batch])
        yield batch
