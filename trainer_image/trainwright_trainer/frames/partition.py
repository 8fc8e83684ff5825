"""Partitions, consecutive blocks of a source, and the tasks of processors on a cluster that clean and map them.

An exception of the user's data is a result of its task, because schedulers do not carry each exception unchanged.
"""

from __future__ import annotations

import os
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import Any

from trainwright_trainer.errors import EnvironmentFailure, Outcome
from trainwright_trainer.frames.pandas import reading_with

READ_BLOCKS = 4
"""The blocks of a partition that the caller reads, unless their number is given."""
_MOST_BLOCKS = 16
"""The most blocks of a partition, unless the number of partitions is given."""


@dataclass(frozen=True, slots=True)
class Opaque:
    """A value that a library does not look into."""

    value: Any


def cut(blocks: int, tasks: int, count: int | None = None) -> list[range]:
    """The numbers of each partition's blocks. `count`: the number of partitions, at most one for each block; None: as
    few as possible, but one for each of `tasks`.
    """
    if not blocks:
        return []
    count = min(count or max(-(-blocks // _MOST_BLOCKS), tasks), blocks)
    return [range(number * blocks // count, (number + 1) * blocks // count) for number in range(count)]


def cleaned(raw: Any, clean: Callable[[Any], Any], folder: str) -> list[Any] | Outcome:
    """The clean blocks of a partition: a source, or a list of raw blocks. Relative paths start at `folder`, if this
    machine has it.
    """
    with suppress(OSError):
        os.chdir(folder)
    return _tried(lambda: [clean(block) for block in (raw if isinstance(raw, list) else raw.blocks())])


def mapped(blocks: list[Any] | Outcome, function: Callable[[Any], Any]) -> list[Any] | Outcome:
    """`function` of each clean block of a partition."""
    if isinstance(blocks, Outcome):
        return blocks
    return _tried(lambda: [function(block) for block in blocks])


def results(found: list[Any] | Outcome) -> list[Any]:
    """The results of one partition. Raises the exception of its first block that fails."""
    if isinstance(found, Outcome):
        raise found.error()
    return found


@contextmanager
def losing(lost: tuple[type[Exception], ...]) -> Iterator[None]:
    """Turn the exceptions `lost`, for a task that could not be repeated, into one line."""
    try:
        yield
    except lost as error:
        cause = getattr(error, "cause", None) or error  # the text of Ray's own error begins with the name of the task
        line = str(cause).partition("\n")[0]
        raise EnvironmentFailure(f"a task of preprocessing was lost, and no retry is left: {line}") from error


def _tried(work: Callable[[], list[Any]]) -> list[Any] | Outcome:
    try:
        with reading_with(1):  # a task has one core
            return work()
    except Exception as error:  # the outermost edge of a task
        return Outcome.of(error, traceback.format_exc().splitlines())
