"""Where blocks of data are mapped. A processor never decides what is computed: the results are the same with each."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Protocol, TypeVar

Block = TypeVar("Block")
Result = TypeVar("Result")


class Processor(Protocol):
    """The one thing that preprocessing asks for."""

    def map_blocks(self, function: Callable[[Block], Result], blocks: Iterable[Block]) -> Iterator[Result]:
        """`function` of each block, in the order of the blocks. The first block's exception that fails is raised."""
