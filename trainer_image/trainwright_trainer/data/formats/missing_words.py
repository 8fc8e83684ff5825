"""The words of `datasetOptions.naValues` in formats whose own reader does not know them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import pyarrow as pa
import pyarrow.compute as pc

from trainwright_trainer.data.datafile import DataFile
from trainwright_trainer.data.formats.reader import Reader


class ReaderWithMissingWords:
    """Reads as `reader` does. Texts that are one of `words` become null."""

    def __init__(self, reader: Reader, words: Sequence[str]) -> None:
        self.name, self.notices = reader.name, reader.notices
        self._reader, self._words = reader, list(words)

    def columns(self, file: DataFile) -> list[str] | None:
        return self._reader.columns(file)

    def read(self, file: DataFile, columns: Sequence[str], coded: Sequence[str]) -> Iterator[pa.Table]:
        for table in self._reader.read(file, columns, coded):
            yield without_texts(table, self._words)


def without_texts(table: pa.Table, words: Sequence[str]) -> pa.Table:
    """The table with null for each text that is one of `words`."""
    return pa.table([_cleared(column, words) for column in table.columns], names=table.column_names)


def _cleared(column: pa.ChunkedArray, words: Sequence[str]) -> pa.ChunkedArray:
    kind = column.type.value_type if pa.types.is_dictionary(column.type) else column.type
    if not (pa.types.is_string(kind) or pa.types.is_large_string(kind)):
        return column
    plain = column.cast(kind)
    cleared = pc.if_else(pc.is_in(plain, value_set=pa.array(words, kind)), None, plain)
    return cleared.dictionary_encode() if kind != column.type else cleared
