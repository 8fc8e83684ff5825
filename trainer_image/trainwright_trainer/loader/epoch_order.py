"""The order of the rows of an epoch. `docs/row-order.md` defines it, and its test vectors pin it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import torch

from trainwright_trainer.data.order import Purpose, hashes, key
from trainwright_trainer.loader.device_order import can_sort, sorted_by_hash

_SORTED_ROWS = 16_384
"""Rows whose keys are made at a time, so that they stay in a core's cache."""


@dataclass(frozen=True)
class EpochOrder:
    """The order of the rows of an epoch: a function of the seed, the epoch and these settings alone.

    `window_rows`: the source rows of a window; None: the whole source is one window. `bucketing`: the number of
    the ragged column by whose lengths rows are grouped into batches (`buckets.py`); None: batches are random.
    """

    seed: int
    shuffles: bool = True
    window_rows: int | None = None
    bucketing: int | None = None

    def positions(
        self, epoch: int, rows: npt.NDArray[np.int64], device: torch.device | None = None
    ) -> npt.NDArray[np.int64]:
        """int64 [n]: positions in `rows`, ascending source row numbers, in the order of the epoch, counted from 0.

        The order of a subset of rows is a subsequence of the order of all rows. `device`: a GPU that may sort them.
        """
        within = self.within(epoch, rows, device)
        if self.window_rows is None or not self.shuffles or not len(rows):
            return within
        windows = rows // self.window_rows
        places = inverse(self.windows(epoch, int(windows[-1]) + 1))
        return within[np.argsort(places[windows[within]], kind="stable")]

    def windows(self, epoch: int, count: int) -> npt.NDArray[np.int64]:
        """int64 [count]: the numbers of the windows, in the order of the epoch."""
        windows = np.arange(count)
        return stable_argsort(hashes(key(self.seed, Purpose.WINDOW, epoch), windows)) if self.shuffles else windows

    def within(
        self, epoch: int, rows: npt.NDArray[np.int64], device: torch.device | None = None
    ) -> npt.NDArray[np.int64]:
        """int64 [n]: positions in `rows`, ascending source row numbers of one window, in the order of the epoch.

        A row that stands there several times has a place in the order for each of its copies.
        """
        if not self.shuffles:
            return np.arange(len(rows))
        if np.all(rows[1:] > rows[:-1]):
            own = key(self.seed, Purpose.EPOCH, epoch)
            if can_sort(device, len(rows)):
                return sorted_by_hash(own, rows, device)
            return stable_argsort(hashes(own, rows))
        copies = np.arange(len(rows)) - np.searchsorted(rows, rows)
        later = [key(self.seed, Purpose.EPOCH, epoch, copy) for copy in range(1, int(copies.max()) + 1)]
        keys = np.array([key(self.seed, Purpose.EPOCH, epoch), *later], dtype=np.uint64)
        return stable_argsort(hashes(keys[copies], rows))


def epoch_order(
    seed: int, epoch: int, rows: npt.NDArray[np.int64], window_rows: int | None = None
) -> npt.NDArray[np.int64]:
    """`rows` in the order of the epoch."""
    return rows[EpochOrder(seed, window_rows=window_rows).positions(epoch, rows)]


def inverse(permutation: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """int64 [n]: the position of each number in a permutation of 0 … n - 1."""
    positions = np.empty_like(permutation)
    positions[permutation] = np.arange(len(permutation))
    return positions


def stable_argsort(values: npt.NDArray[np.uint64]) -> npt.NDArray[np.int64]:
    """int64 [n]: the positions of the values in ascending order; equal values in the order of their positions.

    numpy sorts numbers in a quarter of the time that it needs to sort positions by them. So the position replaces the
    last bits of each value. Values that are equal without these bits are sorted once more, as whole values.
    """
    bits = np.uint64(max(len(values) - 1, 0).bit_length())
    last = (np.uint64(1) << bits) - np.uint64(1)
    keys = np.empty_like(values)
    for start in range(0, len(values), _SORTED_ROWS):
        own = values[start : start + _SORTED_ROWS]
        keys[start : start + len(own)] = (own & ~last) | np.arange(start, start + len(own), dtype=np.uint64)
    keys.sort()
    positions: npt.NDArray[np.int64] = (keys & last).view(np.int64)
    keys >>= bits
    equal = np.flatnonzero(keys[1:] == keys[:-1])
    if len(equal):
        places = np.union1d(equal, equal + 1)
        unsure = positions[places]
        positions[places] = unsure[np.lexsort((unsure, values[unsure], keys[places]))]
    return positions
