"""A source of numbers that logs each read, and functions of its blocks, for the tests of the processors."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from trainwright_api.problems import Mistakes
from trainwright_trainer.errors import EnvironmentFailure


@dataclass(frozen=True)
class Number:
    """A block."""

    value: int
    nbytes: int = 8


@dataclass(frozen=True)
class Numbers:
    """The blocks [start, stop). Each read of each of them is a line in the log."""

    start: int
    stop: int
    log: Path
    can_divide: bool = True

    def blocks(self) -> Iterator[Number]:
        for value in range(self.start, self.stop):
            with self.log.open("a") as file:
                file.write(f"{value}\n")
            yield Number(value)

    def divisible(self) -> Any:
        return self if self.can_divide else None

    @property
    def count(self) -> int:
        return self.stop - self.start

    @property
    def block_rows(self) -> int:
        return 1

    def part(self, start: int, stop: int) -> Numbers:
        return Numbers(start, stop, self.log)


def reads(log: Path) -> list[int]:
    return [int(line) for line in log.read_text().split()]


def same(block: Number) -> Number:
    return block


def doubled(block: Number) -> int:
    return 2 * block.value


def mistaken(block: Number) -> Number:
    if block.value >= 3:
        raise Mistakes.one("dataset", f"row {block.value} is wrong")
    return block


def failing(block: Number) -> int:
    if block.value >= 2:
        raise EnvironmentFailure("the disk is full")
    return block.value


def crashing(block: Number) -> int:
    return block.value // 0
