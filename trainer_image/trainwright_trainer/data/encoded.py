"""Collect the encoded blocks of columns: in memory as long as they are few, else in the files of the cache."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

import pyarrow as pa

from trainwright_trainer.data.cache_lookup import CacheLookup
from trainwright_trainer.data.column_entries import GrowingColumn
from trainwright_trainer.data.columnfile import Column
from trainwright_trainer.data.filling import Filling
from trainwright_trainer.data.transforms import Work, Worked
from trainwright_trainer.features.column import Feature
from trainwright_trainer.features.registry import feature_type

Begin = Callable[[pa.DataType], GrowingColumn]
ENCODED_BYTES = 512 << 20
"""The most bytes of encoded columns that one run of preprocessing holds in memory."""


@dataclass
class ColumnCounts:
    """The rows of a column that notices count. Counts of parts of the rows can be added."""

    nulls: int = 0
    unseen: int = 0
    unread: int = 0
    noted: Counter[str] = field(default_factory=Counter)

    def add(self, other: ColumnCounts) -> None:
        self.nulls += other.nulls
        self.unseen += other.unseen
        self.unread += other.unread
        self.noted.update(other.noted)


class EncodedColumn:
    """One column. `add` takes its blocks in their order. `counts`: of the rows so far."""

    def __init__(self, work: Work) -> None:
        self.feature, self.statistics = work.feature, work.statistics
        self.nbytes = 0
        self.file: GrowingColumn | None = None
        self._filling = Filling() if self.feature.fills_from_neighbours else None
        self._begin: Begin | None = None
        self._blocks: list[pa.Array] = []
        self.counts = ColumnCounts()

    def add(self, worked: Worked) -> None:
        """Raises `EnvironmentFailure` if the column is being written and the write fails."""
        encoded = worked.encoded
        assert encoded is not None
        self.counts.add(ColumnCounts(0, encoded.unseen, worked.unreadable + encoded.unknown, Counter(worked.noted)))
        for values in [encoded.values] if self._filling is None else self._filling.add(encoded):
            self._put(values)

    def move_to_file(self, begin: Begin) -> None:
        """Write the blocks so far, and all later ones, into the file that `begin` begins for their type."""
        self._begin = begin
        blocks, self._blocks = self._blocks, []
        self.nbytes = 0
        for values in blocks:
            self._put(values)

    def end(self) -> None:
        """Take the blocks that wait for later rows."""
        for values in self._filling.end() if self._filling is not None else ():
            self._put(values)

    def take(self) -> list[pa.Array]:
        """The blocks that are complete, once."""
        blocks, self._blocks = self._blocks, []
        return blocks

    def in_memory(self) -> Column:
        return Column(pa.chunked_array(self._blocks), self.notices())

    def notices(self) -> tuple[str, ...]:
        """The notices of the column. They count all rows of the source, in every part."""
        feature, counts = self.feature, self.counts
        own = feature_type(feature.type, feature.path).notices(feature, self.statistics)
        noted = [f"column {feature.column!r}: {line}: {count:,}" for line, count in counts.noted.items()]
        return (*own, *_notices(feature, counts.unread, counts.unseen, counts.nulls), *noted)

    def _put(self, values: pa.Array) -> None:
        self.counts.nulls += values.null_count
        if self._begin is None:
            self._blocks.append(values)
            self.nbytes += values.nbytes
            return
        if self.file is None:
            self.file = self._begin(values.type)
        self.file.write(values)


def _notices(feature: Feature, unreadable: int, unseen: int, dropped: int) -> Iterator[str]:
    column = feature.column
    if unreadable:
        yield f"column {column!r}: values that are no {feature.type}: {unreadable:,}; they count as missing"
    if unseen:
        yield f"column {column!r}: values that no training row has: {unseen:,}; their rows are left out"
    if dropped > unseen:
        why = "by drop_row" if feature.drops_rows else "because no row around has a value"
        yield f"column {column!r}: rows left out {why}: {dropped - unseen:,}"


class EncodedColumns:
    """The columns of one run. When they exceed `most_bytes` together, all columns of the pass go into their files."""

    def __init__(self, most_bytes: int = ENCODED_BYTES) -> None:
        self._most_bytes, self._held_bytes = most_bytes, 0
        self._columns: dict[str, EncodedColumn] = {}
        self._found: CacheLookup | None = None

    def begin(self, found: CacheLookup | None, works: Sequence[Work]) -> None:
        """Begin a pass. `found` is known if any of `works` encodes."""
        self._found = found
        self._columns = {work.feature.name: EncodedColumn(work) for work in works if work.encodes}

    def add(self, name: str, worked: Worked) -> None:
        self._columns[name].add(worked)

    def drop(self, name: str) -> None:
        """Forget a column that has a mistake."""
        column = self._columns.pop(name, None)
        if column is not None and column.file is not None:
            column.file.discard()

    def end_of_block(self) -> None:
        """Move the columns of this pass into files, if they have become too large."""
        if self._held_bytes + sum(column.nbytes for column in self._columns.values()) > self._most_bytes:
            for column in self._columns.values():
                if column.file is None:
                    column.move_to_file(self._begin_of(column))

    def _begin_of(self, column: EncodedColumn) -> Begin:
        found = self._found
        assert found is not None, "columns are encoded after the lookup"
        return lambda type_: found.begin_column(column.feature, column.statistics, type_)

    def end(self) -> list[str]:
        """End the pass: hand every column to the cache. Returns the names of their features.

        Raises `EnvironmentFailure` for a column that is in a file.
        """
        names = list(self._columns)
        for column in self._columns.values():
            column.end()
            assert self._found is not None, "columns are encoded after the lookup"
            if column.file is None:
                self._held_bytes += column.nbytes
                self._found.add_column(column.feature, column.statistics, column.in_memory())
            else:
                column.file.commit(column.notices())
                self._found.recall(column.feature, column.statistics)
        self._columns = {}
        return names

    def discard(self) -> None:
        """Delete the files of a pass that has not ended."""
        for name in list(self._columns):
            self.drop(name)
