"""The interface of a processor. A processor chooses where blocks are mapped; it does not affect the results."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Protocol, TypeVar

Block = TypeVar("Block")
Result = TypeVar("Result")


class Processor(Protocol):
    """The only operation that preprocessing needs."""

    def map_blocks(self, function: Callable[[Block], Result], blocks: Iterable[Block]) -> Iterator[Result]:
        """`function` of each block, in the order of the blocks. Raises the exception of the first block that fails."""
