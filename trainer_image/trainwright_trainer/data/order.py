"""The order of rows, as integer functions that are defined here.

A library's shuffle may change with its version; these functions may not. `docs/row-order.md` defines them, and its test
vectors pin them. All arithmetic is unsigned, 64 bits wide, and wraps around.
"""

from __future__ import annotations

from enum import IntEnum

import numpy as np
import numpy.typing as npt

GOLDEN = 0x9E3779B97F4A7C15
FIRST, SECOND = 0xBF58476D1CE4E5B9, 0x94D049BB133111EB
_MASK = (1 << 64) - 1
_HASHED_ROWS = 16_384
"""Rows that are hashed at a time, so that they stay in a core's cache: a third of the time."""


class Purpose(IntEnum):
    """The first word of a key, so that no two purposes share random numbers. A value is never reused."""

    SPLIT = 1
    SAMPLE = 2
    EPOCH = 3
    INITIALISATION = 4
    DROPOUT = 5
    BALANCE = 6
    WINDOW = 7
    REPORT = 8
    AUGMENTATION = 9
    BUCKET = 10


def mix(value: int) -> int:
    """The finalizer of splitmix64: a bijection of 64-bit numbers."""
    value &= _MASK
    value = ((value ^ (value >> 30)) * FIRST) & _MASK
    value = ((value ^ (value >> 27)) * SECOND) & _MASK
    return value ^ (value >> 31)


def key(seed: int, *words: int) -> int:
    """A 64-bit key of `seed` and `words`, the first of which is a `Purpose`. Negative seeds wrap around."""
    found = mix(seed + GOLDEN)
    for word in words:
        found = mix((found ^ (word & _MASK)) + GOLDEN)
    return found


def hashes(of_key: int | npt.NDArray[np.uint64], rows: npt.NDArray[np.integer]) -> npt.NDArray[np.uint64]:
    """One uint64 for each row number. For one key, different rows have different hashes: every step is a bijection.

    `of_key` is the key of all rows, or one key for each row.
    """
    keys, rows = np.broadcast_arrays(np.asarray(of_key, dtype=np.uint64), rows)
    found = np.empty(len(rows), np.uint64)
    for start in range(0, len(rows), _HASHED_ROWS):
        block = slice(start, start + _HASHED_ROWS)
        found[block] = _hashes(keys[block], rows[block])
    return found


def _hashes(keys: npt.NDArray[np.uint64], rows: npt.NDArray[np.integer]) -> npt.NDArray[np.uint64]:
    value = rows.astype(np.uint64)
    value += np.uint64(1)
    value *= np.uint64(GOLDEN)
    value += keys
    value ^= value >> np.uint64(30)
    value *= np.uint64(FIRST)
    value ^= value >> np.uint64(27)
    value *= np.uint64(SECOND)
    value ^= value >> np.uint64(31)
    return value
