"""Blocks with a fixed number of rows, and the needed columns in memory. Borders depend only on row numbers."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

import pyarrow as pa

from trainwright_trainer.data.transforms import RawColumn

BLOCK_ROWS = 65_536


@dataclass(frozen=True)
class Block:
    """Rows [first_row, first_row + rows) of the source; all but the last have `BLOCK_ROWS` rows."""

    first_row: int
    rows: int
    columns: Mapping[str, pa.Array]


def blocks_of(tables: Iterable[pa.Table]) -> Iterator[Block]:
    """Cut tables of any size into blocks. Columns of compatible types are cast to the wider type."""
    first_row, waiting, rows = 0, list[pa.Table](), 0
    for table in tables:
        waiting.append(table)
        rows += len(table)
        if rows < BLOCK_ROWS:
            continue
        joined = _joined(waiting)
        for start in range(0, rows - BLOCK_ROWS + 1, BLOCK_ROWS):
            yield _block(first_row, joined.slice(start, BLOCK_ROWS))
            first_row += BLOCK_ROWS
        rows %= BLOCK_ROWS
        waiting = [joined.slice(len(joined) - rows)]
    if rows:
        yield _block(first_row, _joined(waiting))


def _joined(tables: list[pa.Table]) -> pa.Table:
    return tables[0] if len(tables) == 1 else pa.concat_tables(tables, promote_options="permissive")


def _block(first_row: int, table: pa.Table) -> Block:
    columns = {name: _array(column) for name, column in zip(table.column_names, table.columns, strict=True)}
    return Block(first_row, len(table), columns)


def _array(column: pa.ChunkedArray) -> pa.Array:
    if column.num_chunks == 1:
        return column.chunk(0)
    combined = column.unify_dictionaries().combine_chunks()
    return combined.chunk(0) if isinstance(combined, pa.ChunkedArray) else combined


class Raw:
    """All rows of some columns. `uses` contains a column's name once for each later `take` of it."""

    def __init__(self, blocks: Iterable[Block], uses: Iterable[str]) -> None:
        self._uses = list(uses)
        self._columns: dict[str, list[pa.Array]] = {}
        self.first_rows: list[int] = []
        self.sizes: list[int] = []
        for block in blocks:
            self.first_rows.append(block.first_row)
            self.sizes.append(block.rows)
            for name, values in block.columns.items():
                self._columns.setdefault(name, []).append(values)

    @property
    def rows(self) -> int:
        return sum(self.sizes)

    def take(self, name: str) -> RawColumn:
        """The column. Its last use removes it."""
        self._uses.remove(name)
        found = self._columns[name] if name in self._uses else self._columns.pop(name)
        return RawColumn(found, self.first_rows)
