"""Dask: partitions of consecutive blocks are read and mapped as tasks of lazy graphs, by any scheduler of Dask.

The caller holds the results of a few partitions, and no raw column. Files that cannot be divided without reading them
(all formats but Parquet) are read by the caller, block by block, and a partition is handed to a task as it is complete.
"""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from itertools import islice, repeat
from typing import Any

import dask.base
from dask.delayed import delayed

from trainwright_trainer.errors import Outcome, losing
from trainwright_trainer.frames import partition
from trainwright_trainer.frames.interface import Block, Clean, Result, Source
from trainwright_trainer.frames.partition import A_TASK, Opaque

# Their annotations are incomplete.
_persist: Any = dask.base.persist
_compute: Any = dask.base.compute
_delayed: Any = delayed


@dataclass(frozen=True)
class DaskProcessor:
    """`options` are those of `dask.persist` and `dask.compute`: the scheduler, and its own. `start_options`: those of
    `dask.persist` alone, for the tasks of the partition with this number.

    `tasks` is the number of partitions that are computed at the same time. `parallelism`: the number of partitions, at
    most the number of blocks; None: as few as possible, but one for each task. `persist`: the clean partitions stay in
    the cluster's memory between two passes; else each pass reads and cleans them again. `lost`: the exceptions that
    the scheduler raises for a task that it could not repeat.
    """

    options: Mapping[str, Any]
    tasks: int
    start_options: Callable[[int], Mapping[str, Any]] = lambda _: {}
    parallelism: int | None = None
    persist: bool = True
    lost: tuple[type[Exception], ...] = ()

    def stage(self, source: Source[Block], clean: Callable[[Block], Clean]) -> DaskStage:
        return DaskStage(self, source, clean)

    def start(self, task: Any, number: int) -> Any:
        """The task of a partition, whose computation has started. Its result stays as long as it is referenced."""
        with losing(A_TASK, self.lost):
            (started,) = _persist(task, **self.options, **self.start_options(number))
        return started

    def results(self, started: Any) -> list[Any]:
        """The results of one partition. Raises the exception of its first block that fails."""
        with losing(A_TASK, self.lost):
            (found,) = _compute(started, **self.options)
        return partition.results(found)

    def partitions(self, blocks: int) -> list[range]:
        """The numbers of each partition's blocks."""
        return partition.cut(blocks, self.tasks, self.parallelism)


class DaskStage:
    """The stage of a `DaskProcessor`."""

    def __init__(self, processor: DaskProcessor, source: Source[Any], clean: Callable[[Any], Any]) -> None:
        self._processor, self._source = processor, source
        self._clean = Opaque((clean, os.getcwd()))
        self._kept: deque[Any] | None = None

    def map(self, function: Callable[[Any], Result], *, last: bool = False) -> Iterator[Result]:
        """`function` of each block, in the order of the blocks. Raises the exception of the first block that fails."""
        processor, keeps = self._processor, self._processor.persist and not last
        shared = processor.start(_task(_same, Opaque(function)), 0)
        kept, ahead = deque[Any](), deque[Any]()
        for number, clean in enumerate(self._taken() if last or self._kept is None else self._kept):
            if keeps:
                kept.append(clean)
            ahead.append(processor.start(_task(_mapped, clean, shared), number))
            if len(ahead) >= processor.tasks:
                yield from processor.results(ahead.popleft())
        while ahead:
            yield from processor.results(ahead.popleft())
        self._kept = kept if keeps else None

    def _taken(self) -> Iterator[Any]:
        """The clean partitions: those that are kept, which are given up, or new ones."""
        kept, self._kept = self._kept, None
        while kept:
            yield kept.popleft()
        if kept is None:
            for number, raw in enumerate(self._raw()):
                clean = _task(_cleaned, Opaque(raw), self._clean)
                yield self._processor.start(clean, number) if self._processor.persist else clean

    def _raw(self) -> Iterator[Any]:
        """The partitions: sources that a task reads, or lists of raw blocks."""
        divisible = self._source.divisible()
        if divisible is not None:
            for numbers in self._processor.partitions(divisible.count):
                yield divisible.part(numbers.start, numbers.stop)
            return
        blocks = self._source.blocks()
        for size in self._sizes():
            part = list(islice(blocks, size))
            if not part:
                return
            yield part

    def _sizes(self) -> Iterator[int]:
        """The numbers of blocks of partitions that the caller reads. Only a given number of them needs another read."""
        if self._processor.parallelism is None:
            yield from repeat(partition.READ_BLOCKS)
        blocks = sum(1 for _ in self._source.blocks())
        yield from map(len, self._processor.partitions(blocks))


def _task(function: Callable[..., Any], *arguments: Any) -> Any:
    return _delayed(function, pure=False, traverse=False)(*arguments)


def _same(function: Opaque) -> Opaque:
    return function


def _cleaned(raw: Opaque, clean: Opaque) -> list[Any] | Outcome:
    return partition.cleaned(raw.value, *clean.value)


def _mapped(blocks: list[Any] | Outcome, function: Opaque) -> list[Any] | Outcome:
    return partition.mapped(blocks, function.value)
