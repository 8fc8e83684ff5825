"""Blocks with a fixed number of rows. The borders of blocks depend only on row numbers."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import pyarrow as pa

from trainwright_trainer.data.table_schema import joined

BLOCK_ROWS = 65_536
IMAGE_BLOCK_ROWS = 256
"""The rows of a block of a data set with images: each may have a megabyte."""
PASS_STEPS = 16_384
"""The most steps of a forward pass that is cut by lengths, with those that pad: activations have a row for each."""
PASS_LOGITS = 1 << 24
"""The most logits of a forward pass: 64 MiB in float32."""
_WIDE = {pa.string(): pa.large_string(), pa.binary(): pa.large_binary()}
_MOST_BYTES = 2**31 - 1
"""The most bytes of texts in an array of Arrow whose offsets have 32 bits."""


@dataclass(frozen=True)
class Block:
    """Rows [first_row, first_row + rows) of the source; all but the last have as many."""

    first_row: int
    rows: int
    columns: Mapping[str, pa.Array]


@dataclass(frozen=True)
class RawColumn:
    """One column of the source, block by block; `first_rows` are the blocks' first row numbers.

    `blocks` can be iterated more than once. Each time, the column may be read again.
    """

    blocks: Iterable[pa.Array]
    first_rows: Sequence[int]


def blocks_of(tables: Iterable[pa.Table], first_row: int = 0, block_rows: int | None = None) -> Iterator[Block]:
    """Cut tables of any size into blocks of `block_rows` rows. Columns of compatible types are cast to the wider type.

    `first_row` is the row number of the first table's first row, which begins a block.
    """
    size = block_rows or BLOCK_ROWS
    waiting, rows = list[pa.Table](), 0
    for table in tables:
        waiting.append(table)
        rows += len(table)
        if rows < size:
            continue
        joined = _joined(waiting)
        for start in range(0, rows - size + 1, size):
            yield _block(first_row, joined.slice(start, size))
            first_row += size
        rows %= size
        waiting = [joined.slice(len(joined) - rows)]
    if rows:
        yield _block(first_row, _joined(waiting))


def _joined(tables: list[pa.Table]) -> pa.Table:
    return tables[0] if len(tables) == 1 else joined(tables)


def _block(first_row: int, table: pa.Table) -> Block:
    columns = {name: _array(column) for name, column in zip(table.column_names, table.columns, strict=True)}
    return Block(first_row, len(table), columns)


def _array(column: pa.ChunkedArray) -> pa.Array:
    if column.num_chunks == 1:
        return column.chunk(0)
    combined = _with_offsets(column).unify_dictionaries().combine_chunks()
    return combined.chunk(0) if isinstance(combined, pa.ChunkedArray) else combined


def _with_offsets(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Return the column with the offsets that one array of it needs."""
    wide = _WIDE.get(column.type)
    return column.cast(wide) if wide is not None and column.nbytes > _MOST_BYTES else column
