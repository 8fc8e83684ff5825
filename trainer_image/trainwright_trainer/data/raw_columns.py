"""The needed raw columns in memory, block by block. A column is freed after its last use."""

from __future__ import annotations

from collections.abc import Iterable

import pyarrow as pa

from trainwright_trainer.data.rows import Block
from trainwright_trainer.data.transforms import RawColumn


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
