"""The interface of a processor, which reads a data set and maps functions over its blocks.

A processor chooses where and when this happens. It does not affect the results.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Protocol, TypeVar

Block = TypeVar("Block")
Result = TypeVar("Result")
Raw_co = TypeVar("Raw_co", covariant=True)
Clean = TypeVar("Clean", bound="Sized")
Clean_co = TypeVar("Clean_co", bound="Sized", covariant=True)


class Sized(Protocol):
    """A block that knows its size in memory."""

    @property
    def nbytes(self) -> int: ...


class Source(Protocol[Raw_co]):
    """A data set that can be read more than once, always with the same blocks."""

    def blocks(self) -> Iterator[Raw_co]:
        """All blocks in their order. It raises the errors of the data set."""

    def divisible(self) -> Divisible[Raw_co] | None:
        """The source as blocks that can be read independently. None if its files have to be read from their start."""


class Divisible(Protocol[Raw_co]):
    """A source whose blocks are known before they are read. `count` is their number.

    `block_rows`: the rows of each block but the last.
    """

    @property
    def count(self) -> int: ...

    @property
    def block_rows(self) -> int: ...

    def part(self, start: int, stop: int) -> Source[Raw_co]:
        """The blocks [start, stop). It can be pickled."""


class Stage(Protocol[Clean_co]):
    """The blocks of a source after a first function. They are computed when they are mapped, maybe more than once."""

    def map(self, function: Callable[[Any], Result], *, last: bool = False) -> Iterator[Result]:
        """`function` of each block, in the order of the blocks. Raises the exception of the first block that fails.

        `last`: the stage is not mapped again, so that kept blocks are freed.
        """


class Processor(Protocol):
    """Reads and maps. The functions that it gets can be pickled."""

    def stage(self, source: Source[Block], clean: Callable[[Block], Clean]) -> Stage[Clean]:
        """The stage of `clean` of each block of `source`."""
