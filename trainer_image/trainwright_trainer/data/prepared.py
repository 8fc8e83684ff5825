"""The result of preprocessing: encoded columns in source order, the split of every row, and the statistics."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from trainwright_trainer.data.cache_use import CacheUse
from trainwright_trainer.data.columnfile import Column
from trainwright_trainer.frames.pandas import shared_by_threads

# The parts of a split, as they are stored: one uint8 code for each row.
TRAIN, VALIDATION, TEST, UNSAMPLED = 0, 1, 2, 3
SPLIT_NAMES = ("train", "validation", "test")


Copies = npt.NDArray[np.int32]


class AnyColumn(Protocol):
    """An encoded column, in memory or in a file."""

    @property
    def null_count(self) -> int: ...

    @property
    def values(self) -> pa.ChunkedArray: ...

    def readers(self, cores: int) -> int:
        """The number of such columns to read side by side with `cores` cores."""

    def blocks(self) -> Iterator[pa.Array]:
        """The values, block by block."""

    def part(self, start: int, stop: int) -> pa.ChunkedArray:
        """The rows [start, stop). Of a file, no others are read."""

    def parts(self, start: int, stop: int) -> Iterator[pa.Array]:
        """The same block by block, so that a few of many rows can be taken in little memory."""


class Columns(Mapping[str, pa.ChunkedArray]):
    """Encoded columns by feature name. Those that are in files are read, all together, at the first use of one."""

    def __init__(self, columns: Mapping[str, AnyColumn]) -> None:
        self._columns = columns

    def __getitem__(self, name: str) -> pa.ChunkedArray:
        return self._values[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._columns)

    def __len__(self) -> int:
        return len(self._columns)

    def replaced(self, columns: Mapping[str, AnyColumn]) -> Columns:
        """The same columns, but for those in `columns`."""
        return Columns({**self._columns, **columns})

    def part(self, name: str, start: int, stop: int) -> pa.ChunkedArray:
        """The rows [start, stop) of one column. Raises the errors of a read."""
        return self._columns[name].part(start, stop)

    def parts_of(self, names: Sequence[str], start: int, stop: int, cores: int) -> Mapping[str, pa.ChunkedArray]:
        """The rows [start, stop) of several columns, read by `cores` cores."""
        columns = {name: self._columns[name] for name in names}
        readers = max((column.readers(cores) for column in columns.values()), default=1)
        return _side_by_side(lambda column: column.part(start, stop), columns, readers)

    def parts(self, name: str, start: int, stop: int) -> Iterator[pa.Array]:
        """The same block by block."""
        return self._columns[name].parts(start, stop)

    def valid(self, rows: int) -> npt.NDArray[np.bool_]:
        """bool [rows]: True if no column is null. Columns that may be null are read block by block."""
        valid = np.ones(rows, dtype=np.bool_)
        for column in self._columns.values():
            start = 0
            for block in column.blocks() if column.null_count else ():
                valid[start : start + len(block)] &= block.is_valid().to_numpy(zero_copy_only=False)
                start += len(block)
        return valid

    @cached_property
    def _values(self) -> Mapping[str, pa.ChunkedArray]:
        """Raises `EnvironmentFailure` if a file is damaged or cannot be read."""
        # No more than cores, because each read takes the memory of its column twice.
        return _side_by_side(lambda column: column.values, self._columns, pa.cpu_count())


def _side_by_side(
    read: Callable[[AnyColumn], pa.ChunkedArray], columns: Mapping[str, AnyColumn], readers: int
) -> Mapping[str, pa.ChunkedArray]:
    found = shared_by_threads(read, columns.values(), min(readers, len(columns)))
    return dict(zip(columns, found, strict=True))


@dataclass(frozen=True)
class Prepared:
    """A data set after both passes. Everything is in source order and has `rows` entries.

    `columns[feature name]` is the encoded column; a null marks a row that the feature drops. `Columns` reads large
    columns at their first use.
    `statistics[feature name]` is plain JSON: it is stored in the cache and in the model folder.
    `copies` is the number of copies of each row in the sample of the training part; None: one of each.
    `finish` waits until the cache is written, and returns notices of its failures; call it before the process ends.
    `cache_use`: the use of the cache, if the data are in one.
    `encoded`: the columns before embeddings replaced some of them; None if these are all of `columns`.
    """

    dataset: str
    rows: int
    splits: npt.NDArray[np.uint8]
    columns: Columns
    statistics: Mapping[str, Mapping[str, Any]]
    content: str
    cache_key: str
    cache_hit: bool
    notices: tuple[str, ...] = field(default=())
    finish: Callable[[], tuple[str, ...]] = field(default=tuple, compare=False)
    copies: Copies | None = None
    cache_use: CacheUse | None = field(default=None, compare=False)
    encoded: Columns | None = None

    @cached_property
    def valid(self) -> npt.NDArray[np.bool_]:
        """bool [rows]: True if no feature of the row is null."""
        return self.columns.valid(self.rows)

    def part(self, name: str, start: int, stop: int) -> pa.ChunkedArray:
        """The rows [start, stop) of one column."""
        return self.columns.part(name, start, stop)

    def parts_of(self, names: Sequence[str], start: int, stop: int, cores: int) -> Mapping[str, pa.ChunkedArray]:
        """The rows [start, stop) of several columns, read by `cores` cores. It renews the record of their use."""
        if self.cache_use is not None:
            self.cache_use.renew()
        return self.columns.parts_of(names, start, stop, cores)

    def parts(self, name: str, start: int, stop: int) -> Iterator[pa.Array]:
        """The same block by block."""
        return self.columns.parts(name, start, stop)

    def encoded_part(self, name: str, start: int, stop: int) -> pa.ChunkedArray:
        """The rows [start, stop) of one column as preprocessing has encoded it."""
        return (self.encoded or self.columns).part(name, start, stop)

    def rows_of(self, part: int, start: int = 0, stop: int | None = None) -> npt.NDArray[np.int64]:
        """The numbers of the valid rows of a part, ascending, from `start` to below `stop`. A row of the training part
        stands there once for each of its copies."""
        window = slice(start, stop)
        rows = np.flatnonzero(self.valid[window] & (self.splits[window] == part)) + start
        return rows if part != TRAIN or self.copies is None else np.repeat(rows, self.copies[rows])

    def counts_of(self, part: int, window_rows: int) -> npt.NDArray[np.int64]:
        """int64 [windows]: the number of rows of `rows_of` in each window of `window_rows` rows."""
        counted: npt.NDArray[Any] = self.valid & (self.splits == part)
        if part == TRAIN and self.copies is not None:
            counted = counted * self.copies
        return np.add.reduceat(counted, np.arange(0, self.rows, window_rows), dtype=np.int64)


def joined(blocks: Sequence[Prepared]) -> Prepared:
    """One data set of consecutive blocks of encoded rows."""
    columns = {
        name: Column(pa.chunked_array([chunk for block in blocks for chunk in block.columns[name].chunks]))
        for name in blocks[0].columns
    }
    splits = np.concatenate([block.splits for block in blocks])
    return replace(blocks[0], rows=len(splits), splits=splits, columns=Columns(columns))
