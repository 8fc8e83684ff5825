"""Mean and standard deviation of each place of a vector: computed per block, merged in the blocks' order."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from trainwright_trainer.features.errors import WrongTypeError
from trainwright_trainer.features.missing import rows_of
from trainwright_trainer.features.texts import counts_of, total


@dataclass(frozen=True)
class VectorMoments:
    """Sums over the vectors of one block. `counts`, of whole vectors, is filled only for `fill_with_mode`."""

    rows: int
    missing: int
    size: int
    mean: npt.NDArray[np.float64]
    m2: npt.NDArray[np.float64]
    counts: tuple[pa.Table, ...]


def observed(values: pa.Array, *, counts: bool) -> VectorMoments:
    """The sums over one block. `counts`: count whole vectors too."""
    size = values.type.list_size
    present = values.drop_null()
    vectors = rows_of(present).astype(np.float64) if size else np.zeros((0, 0))
    if not len(vectors):
        return VectorMoments(len(values), values.null_count, 0, np.zeros(0), np.zeros(0), ())
    equal = vectors.min(axis=0) == vectors.max(axis=0)
    mean = np.where(equal, vectors[0], vectors.mean(axis=0))  # as in `moments.observe`
    tables = (counts_of(_as_bytes(present)),) if counts else ()
    return VectorMoments(len(values), values.null_count, size, mean, ((vectors - mean) ** 2).sum(axis=0), tables)


def _as_bytes(vectors: pa.Array) -> pa.Array:
    """The vectors as fixed-size binary values, which can be counted. `vectors` holds no null."""
    data = np.ascontiguousarray(rows_of(vectors))
    width = data.shape[1] * data.itemsize
    return pa.Array.from_buffers(pa.binary(width), len(data), [None, pa.py_buffer(data)])


def merged(states: Sequence[VectorMoments]) -> VectorMoments:
    """The sums over several blocks. Raises `WrongTypeError` for vectors of different sizes."""
    rows, missing = sum(state.rows for state in states), sum(state.missing for state in states)
    seen = [state for state in states if state.size]
    if not seen:
        return VectorMoments(rows, missing, 0, np.zeros(0), np.zeros(0), ())
    _check_one_size(seen)
    _, mean, m2 = _moments(seen)
    counts = [table for state in seen for table in state.counts]
    return VectorMoments(rows, missing, seen[0].size, mean, m2, (total(counts),) if counts else ())


def _check_one_size(states: Sequence[VectorMoments]) -> None:
    sizes = sorted({state.size for state in states})
    if len(sizes) > 1:
        raise WrongTypeError(f"has vectors of {sizes[0]} and of {sizes[1]} numbers. A vector column has one size.")


def _moments(states: Sequence[VectorMoments]) -> tuple[int, npt.NDArray[np.float64], npt.NDArray[np.float64]]:
    """Count, mean and m2 of all blocks, merged by Chan's formula from left to right."""
    count, mean, m2 = 0, np.zeros(states[0].size), np.zeros(states[0].size)
    for state in states:
        added = state.rows - state.missing
        distance = state.mean - mean
        m2 = m2 + state.m2 + distance * distance * (count * added / (count + added))
        mean = mean + distance * (added / (count + added))
        count += added
    return count, mean, m2
