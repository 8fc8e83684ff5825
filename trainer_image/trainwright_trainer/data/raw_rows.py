"""Raw values of a few rows of a data set, read again from its files."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from trainwright_trainer.data.rows import Block
from trainwright_trainer.frames.interface import Source

RawRow = Mapping[str, Any]


def raw_rows(data: Source[Block], rows: Sequence[int], is_late: Callable[[], bool]) -> dict[int, RawRow]:
    """The columns of the rows with these numbers, as Python values by column; None is a missing value.

    Of files that can be read at any row, only the blocks with these rows are read. Other files are read from their
    start. Reading ends when `is_late` returns True, and the result then lacks rows. Raises the errors of a read.
    """
    found: dict[int, RawRow] = {}
    for block in _blocks(data, rows):
        for row in rows:
            if block.first_row <= row < block.first_row + block.rows:
                at = row - block.first_row
                found[row] = {name: column[at].as_py() for name, column in block.columns.items()}
        if len(found) == len(set(rows)) or is_late():
            break
    return found


def _blocks(data: Source[Block], rows: Sequence[int]) -> Iterator[Block]:
    divisible = data.divisible()
    if divisible is None:
        yield from data.blocks()
        return
    for number in sorted({row // divisible.block_rows for row in rows}):
        yield from divisible.part(number, number + 1).blocks()
