"""The order of the rows of an epoch. `docs/row-order.md` defines it, and its test vectors pin it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import torch

from trainwright_trainer.data.order import Purpose, hashes, key


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

    def positions(self, epoch: int, rows: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
        """int64 [n]: positions in `rows`, ascending source row numbers, in the order of the epoch, counted from 0.

        The order of a subset of rows is a subsequence of the order of all rows.
        """
        within = self.within(epoch, rows)
        if self.window_rows is None or not self.shuffles or not len(rows):
            return within
        windows = rows // self.window_rows
        places = inverse(self.windows(epoch, int(windows[-1]) + 1))
        return within[np.argsort(places[windows[within]], kind="stable")]

    def windows(self, epoch: int, count: int) -> npt.NDArray[np.int64]:
        """int64 [count]: the numbers of the windows, in the order of the epoch."""
        windows = np.arange(count)
        return _sorted(hashes(key(self.seed, Purpose.WINDOW, epoch), windows)) if self.shuffles else windows

    def within(self, epoch: int, rows: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
        """int64 [n]: positions in `rows`, ascending source row numbers of one window, in the order of the epoch.

        A row that stands there several times has a place in the order for each of its copies.
        """
        if not self.shuffles:
            return np.arange(len(rows))
        copies = np.arange(len(rows)) - np.searchsorted(rows, rows)
        most = int(copies.max(initial=0))
        if not most:
            return _sorted(hashes(key(self.seed, Purpose.EPOCH, epoch), rows))
        later = [key(self.seed, Purpose.EPOCH, epoch, copy) for copy in range(1, most + 1)]
        keys = np.array([key(self.seed, Purpose.EPOCH, epoch), *later], dtype=np.uint64)
        return _sorted(hashes(keys[copies], rows))


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


def _sorted(values: npt.NDArray[np.uint64]) -> npt.NDArray[np.int64]:
    """int64 [n]: the positions of the values in ascending order; equal values in the order of their positions.

    torch sorts whole numbers in half the time of numpy, but has no unsigned ones: the first bit maps them in order.
    """
    signed = (values ^ np.uint64(1 << 63)).view(np.int64)
    positions: npt.NDArray[np.int64] = torch.sort(torch.from_numpy(signed), stable=True).indices.numpy()
    return positions
