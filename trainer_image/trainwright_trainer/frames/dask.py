"""Dask: partitions of consecutive blocks are read and mapped as tasks of lazy graphs, by any scheduler of Dask.

The caller holds the results of a few partitions, and no raw column. Files that cannot be divided without reading them
(all formats but Parquet) are read by the caller, block by block, and a partition is handed to a task as it is complete.
"""

from __future__ import annotations

import os
import traceback
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from itertools import islice, repeat
from typing import Any

import dask.base
from dask.delayed import delayed

from trainwright_trainer.errors import EnvironmentFailure, Outcome
from trainwright_trainer.frames.interface import Block, Clean, Result, Source
from trainwright_trainer.frames.pandas import reading_with

# Their annotations are incomplete.
_persist: Any = dask.base.persist
_compute: Any = dask.base.compute
_delayed: Any = delayed

_MOST_BLOCKS = 16
"""The most blocks of a partition, unless `parallelism` is given."""
_READ_BLOCKS = 4
"""The blocks of a partition that the caller reads, unless `parallelism` is given."""


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
        with self._one_line():
            (started,) = _persist(task, **self.options, **self.start_options(number))
        return started

    def results(self, started: Any) -> list[Any]:
        """The results of one partition. Raises the exception of its first block that fails."""
        with self._one_line():
            (found,) = _compute(started, **self.options)
        if isinstance(found, Outcome):
            raise found.error()
        results: list[Any] = found
        return results

    @contextmanager
    def _one_line(self) -> Iterator[None]:
        try:
            yield
        except self.lost as error:
            line = str(error).partition("\n")[0]
            raise EnvironmentFailure(f"a task of preprocessing was lost, and no retry is left: {line}") from error

    def partitions(self, blocks: int) -> list[range]:
        """The numbers of each partition's blocks."""
        if not blocks:
            return []
        count = min(self.parallelism or max(-(-blocks // _MOST_BLOCKS), self.tasks), blocks)
        return [range(number * blocks // count, (number + 1) * blocks // count) for number in range(count)]


class DaskStage:
    """The stage of a `DaskProcessor`."""

    def __init__(self, processor: DaskProcessor, source: Source[Any], clean: Callable[[Any], Any]) -> None:
        self._processor, self._source = processor, source
        self._clean = _Opaque((clean, os.getcwd()))
        self._kept: deque[Any] | None = None

    def map(self, function: Callable[[Any], Result], *, last: bool = False) -> Iterator[Result]:
        """`function` of each block, in the order of the blocks. Raises the exception of the first block that fails."""
        processor, keeps = self._processor, self._processor.persist and not last
        shared = processor.start(_task(_same, _Opaque(function)), 0)
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
                clean = _task(_cleaned, _Opaque(raw), self._clean)
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
            yield from repeat(_READ_BLOCKS)
        blocks = sum(1 for _ in self._source.blocks())
        yield from map(len, self._processor.partitions(blocks))


@dataclass(frozen=True, slots=True)
class _Opaque:
    """A value that Dask does not search for tasks."""

    value: Any


def _task(function: Callable[..., Any], *arguments: Any) -> Any:
    return _delayed(function, pure=False, traverse=False)(*arguments)


def _same(function: _Opaque) -> _Opaque:
    return function


def _cleaned(raw: _Opaque, clean: _Opaque) -> list[Any] | Outcome:
    """The clean blocks of a partition. An exception is a result: schedulers do not carry each exception unchanged."""
    function, folder = clean.value
    with suppress(OSError):
        os.chdir(folder)  # relative paths start at the caller's folder, if this machine has it

    def work() -> list[Any]:
        blocks = raw.value if isinstance(raw.value, list) else raw.value.blocks()
        return [function(block) for block in blocks]

    return _tried(work)


def _mapped(blocks: list[Any] | Outcome, function: _Opaque) -> list[Any] | Outcome:
    if isinstance(blocks, Outcome):
        return blocks
    return _tried(lambda: [function.value(block) for block in blocks])


def _tried(work: Callable[[], list[Any]]) -> list[Any] | Outcome:
    try:
        with reading_with(1):  # a task has one core
            return work()
    except Exception as error:  # the outermost edge of a task
        return Outcome.of(error, traceback.format_exc().splitlines())
