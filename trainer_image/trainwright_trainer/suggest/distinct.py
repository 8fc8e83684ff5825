"""The number of distinct values of a column, in bounded memory: exact while they are few, else from a sketch."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt
from pandas.util import hash_array

MOST_VALUES = 1_000
"""A column with at most so many distinct values is counted exactly."""
_KEPT_HASHES = 4_096
"""The sketch keeps the least hashes (bottom-k). The standard error of its estimate is 1/√k, 1.6 %."""

Hashes = npt.NDArray[np.uint64]


class Distinct:
    """Counts the values of a column, block by block. The order of the blocks does not change the result."""

    def __init__(self) -> None:
        self._counts: dict[Any, int] | None = {}
        self._hashes: Hashes = np.zeros(0, np.uint64)

    @property
    def counts(self) -> Mapping[Any, int] | None:
        """The number of rows of each value; None if there are more than `MOST_VALUES` values."""
        return self._counts

    @property
    def number(self) -> int:
        """The number of distinct values: exact, or an estimate."""
        if self._counts is not None:
            return len(self._counts)
        if len(self._hashes) < _KEPT_HASHES:
            return len(self._hashes)
        return round((_KEPT_HASHES - 1) / (float(self._hashes[-1]) / 2**64))

    def add(self, values: npt.NDArray[Any], counts: npt.NDArray[np.int64]) -> None:
        """Add the distinct values of one block, and the number of its rows with each of them."""
        hashes = hash_array(values, categorize=False)
        if len(self._hashes) == _KEPT_HASHES:  # nearly all of a later block are greater than those kept
            hashes = hashes[hashes < self._hashes[-1]]
        self._hashes = np.union1d(self._hashes, hashes)[:_KEPT_HASHES]
        if self._counts is None:
            return
        if len(values) > MOST_VALUES:
            self._counts = None
            return
        for value, count in zip(values.tolist(), counts.tolist(), strict=True):
            self._counts[value] = self._counts.get(value, 0) + count
        if len(self._counts) > MOST_VALUES:
            self._counts = None
