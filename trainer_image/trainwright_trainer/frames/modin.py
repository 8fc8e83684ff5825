"""Modin: a frame whose rows are partitions of consecutive blocks. Each operation starts at once, for all rows.

The frame has one column of Python objects, so pandas converts no value. The clean blocks of the whole data set lie in
the object store, and so do all results that the caller has not taken yet; it spills to disk. The caller holds the
results of one partition, and no raw column. Files that cannot be divided without reading them (all formats but Parquet)
are read by the caller, block by block, and a partition is handed to a task as it is complete.
"""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import islice
from typing import Any

import pandas
from modin.distributed.dataframe.pandas import from_partitions, unwrap_partitions

from trainwright_trainer.errors import losing
from trainwright_trainer.frames import partition
from trainwright_trainer.frames.interface import Block, Clean, Result, Source
from trainwright_trainer.frames.partition import A_TASK, Opaque

_COLUMN = "blocks"
_SET_BY_MODIN = "OMP_NUM_THREADS"


@dataclass(frozen=True)
class ModinProcessor:
    """`put` and `get` are those of the object store of Modin's engine. `tasks` is the number of partitions that it
    computes at the same time. `lost`: the exceptions that `get` raises for a task that could not be repeated.
    """

    put: Callable[[Any], Any]
    get: Callable[[Any], Any]
    tasks: int
    lost: tuple[type[Exception], ...] = ()

    def stage(self, source: Source[Block], clean: Callable[[Block], Clean]) -> ModinStage:
        return ModinStage(self, source, clean)

    def stored(self, value: Any) -> Any:
        """A row of a frame, as a partition in the object store."""
        return self.put(pandas.DataFrame({_COLUMN: pandas.Series([Opaque(value)], dtype=object)}))

    def started(self, rows: Sequence[Any], function: Callable[[Opaque], Opaque]) -> list[Any]:
        """The rows of the frame of `function` of each row. Their computation has started."""
        count = len(rows)
        with _environment_kept():
            index, columns = pandas.RangeIndex(count), pandas.Index([_COLUMN])
            frame = from_partitions(list(rows), 0, index, columns, row_lengths=[1] * count, column_widths=[1])
            return [row for [row] in unwrap_partitions(frame.map(function))]

    def results(self, row: Any) -> list[Any]:
        """The results of one partition. Raises the exception of its first block that fails."""
        with losing(A_TASK, self.lost):
            found = self.get(row)
        return partition.results(found[_COLUMN].iloc[0].value)


class ModinStage:
    """The stage of a `ModinProcessor`."""

    def __init__(self, processor: ModinProcessor, source: Source[Any], clean: Callable[[Any], Any]) -> None:
        self._processor, self._source = processor, source
        self._clean = _Cleaned(clean, os.getcwd())
        self._kept: list[Any] | None = None

    def map(self, function: Callable[[Any], Result], *, last: bool = False) -> Iterator[Result]:
        """`function` of each block, in the order of the blocks. Raises the exception of the first block that fails."""
        clean = self._cleaned() if self._kept is None else self._kept
        self._kept = None if last else clean
        found = deque(self._processor.started(clean, _Mapped(function)) if clean else ())
        del clean  # each clean partition is freed when it is mapped for the last time
        while found:
            yield from self._processor.results(found.popleft())

    def _cleaned(self) -> list[Any]:
        """The clean partitions of the whole data set. Their computation has started."""
        return [row for raw in self._raw() for row in self._processor.started(raw, self._clean)]

    def _raw(self) -> Iterator[list[Any]]:
        """The rows of raw partitions, in groups that are known at the same time."""
        stored, divisible = self._processor.stored, self._source.divisible()
        if divisible is None:
            blocks = self._source.blocks()
            while some := list(islice(blocks, partition.READ_BLOCKS)):
                yield [stored(some)]
        elif divisible.count:
            parts = partition.cut(divisible.count, self._processor.tasks)
            yield [stored(divisible.part(part.start, part.stop)) for part in parts]


@dataclass(frozen=True)
class _Cleaned:
    clean: Callable[[Any], Any]
    folder: str

    def __call__(self, raw: Opaque) -> Opaque:
        return Opaque(partition.cleaned(raw.value, self.clean, self.folder))


@dataclass(frozen=True)
class _Mapped:
    function: Callable[[Any], Any]

    def __call__(self, clean: Opaque) -> Opaque:
        return Opaque(partition.mapped(clean.value, self.function))


@contextmanager
def _environment_kept() -> Iterator[None]:
    """Undo the number of threads that Modin sets for this process, and so for the programs that it starts."""
    before = os.environ.pop(_SET_BY_MODIN, None)
    try:
        yield
    finally:
        os.environ.pop(_SET_BY_MODIN, None)
        if before is not None:
            os.environ[_SET_BY_MODIN] = before
