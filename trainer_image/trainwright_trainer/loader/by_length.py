"""Passes whose order has no meaning: rows of similar lengths share a batch, so that little of it is padding."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
import numpy.typing as npt

from trainwright_trainer.data.rows import PASS_STEPS
from trainwright_trainer.loader.batch import Batch
from trainwright_trainer.loader.buckets import GROUP_BATCHES

# Rows that are sorted together, if a batch has no more.
_GROUP_ROWS = 16_384
Whole = npt.NDArray[np.int64]
Read = Callable[[int, int, int], Iterator[Batch]]
"""`size`, `start` and `stop` → the rows [start, stop) in the order of the source, `size` at a time."""


def by_length(read: Read, size: int, rows: int, first: int, last: int) -> Iterator[Batch]:
    """The batches [first, last) of the first `rows` rows, which have ragged columns; `size` rows each.

    Rows are sorted within groups of batches. A batch does not depend on `first` and `last`.
    """
    together = size * max(1, min(GROUP_BATCHES, _GROUP_ROWS // size))
    at = first * size // together * together
    for group in read(together, at, min(-(-last * size // together) * together, rows)):
        chosen = group.take(longest_first(group.total_lengths()))
        stop = min(last * size - at, len(group.rows))
        for start in range(max(first * size - at, 0), stop, size):
            yield chosen.part(slice(start, min(start + size, stop)))
        at += together


def passes(lengths: Whole, most: int) -> Iterator[Whole]:
    """int64 [rows] each: the places of the rows of each pass, `most` rows or fewer long ones.

    `lengths`: int64 [n], the steps of each row. The longest rows are first, so that a lack of memory shows at once.
    """
    order = longest_first(lengths)
    start = 0
    while start < len(order):
        rows = min(most, max(1, PASS_STEPS // max(1, int(lengths[order[start]]))))
        yield order[start : start + rows]
        start += rows


def longest_first(lengths: Whole) -> Whole:
    """int64 [n]: the positions of the rows; rows of the same length stay in their order."""
    return np.argsort(-lengths, kind="stable")
