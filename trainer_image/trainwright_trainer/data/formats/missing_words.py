"""The words of `datasetOptions.naValues` in formats whose own reader does not know them."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence

import pyarrow as pa
import pyarrow.compute as pc

from trainwright_trainer.data.datafile import DataFile
from trainwright_trainer.data.formats.reader import Reader
from trainwright_trainer.features.errors import kind_of

_KINDS = ("text", "bytes", "whole numbers", "numbers", "dates")
"""The kinds of columns in which a word acts. A word that is no value of the column's type does not act."""
_NUMBER = re.compile(r"-?(inf|(0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?)")
"""The texts that CSV files have for numbers. The text 007 is another one than that of the number 7."""


class ReaderWithMissingWords:
    """Reads as `reader` does. Values that are one of `words` become null."""

    def __init__(self, reader: Reader, words: Sequence[str]) -> None:
        self.name, self.notices = reader.name, reader.notices
        self._reader, self._words = reader, list(words)

    def columns(self, file: DataFile) -> list[str] | None:
        return self._reader.columns(file)

    def read(self, file: DataFile, columns: Sequence[str], coded: Sequence[str]) -> Iterator[pa.Table]:
        for table in self._reader.read(file, columns, coded):
            yield without_na_values(table, self._words)


def without_na_values(table: pa.Table, words: Sequence[str]) -> pa.Table:
    """The table with null for each text, number and time that is one of `words`, as a text or as the same value."""
    if not table.num_columns:  # a new table would have no rows
        return table
    return pa.table([_cleared(column, words) for column in table.columns], names=table.column_names)


def _cleared(column: pa.ChunkedArray, words: Sequence[str]) -> pa.ChunkedArray:
    kind = column.type.value_type if pa.types.is_dictionary(column.type) else column.type
    values = _values(words, kind) if kind_of(kind) in _KINDS else None
    if not values:
        return column
    plain = column.cast(kind)
    cleared = pc.if_else(pc.is_in(_comparable(plain), value_set=_comparable(values)), None, plain)
    return cleared.dictionary_encode() if kind != column.type else cleared


def _comparable(values: pa.Array | pa.ChunkedArray) -> pa.Array | pa.ChunkedArray:
    """Arrow does not look up float16."""
    return values.cast(pa.float32()) if pa.types.is_float16(values.type) else values


def _values(words: Sequence[str], kind: pa.DataType) -> pa.Array:
    """The words that are values of a type, in that type."""
    is_number = "numbers" in kind_of(kind)
    found = []
    for word in words:
        if is_number and not _NUMBER.fullmatch(word):
            continue
        try:
            value = pa.scalar(word).cast(kind)
        except pa.ArrowInvalid:
            continue
        if "inf" in word or not pa.types.is_floating(kind) or math.isfinite(value.as_py()):
            found.append(value)
    return pa.array(found, kind)
