"""Partitions, consecutive blocks of a source, and the tasks of processors on a cluster that clean and map them.

An exception of the user's data is a result of its task, because schedulers do not carry each exception unchanged.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from trainwright_trainer.errors import Outcome
from trainwright_trainer.frames.pandas import reading_with

A_TASK = "a task of preprocessing"
"""The name of what was lost, in messages."""
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


def _tried(work: Callable[[], list[Any]]) -> list[Any] | Outcome:
    try:
        with reading_with(1):  # a task has one core
            return work()
    except Exception as error:  # the outermost edge of a task
        return Outcome.traced(error)
