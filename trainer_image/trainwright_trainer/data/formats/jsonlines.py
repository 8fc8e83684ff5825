"""JSON lines: one object on each line."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Any

import pyarrow as pa
import pyarrow.json as pajson

from trainwright_trainer.data.datafile import DataFile
from trainwright_trainer.data.formats.dialect import UTF8, check_encoding
from trainwright_trainer.data.formats.reader import UnreadableFileError
from trainwright_trainer.data.formats.streams import native, opened

_READ_BYTES = 4 << 20


class JsonLinesReader:
    """Reads one file. Types are inferred from the whole file; a column of mixed types becomes text."""

    name = "JSON lines"
    notices: Sequence[str] = ()

    def columns(self, file: DataFile) -> list[str] | None:  # noqa: ARG002
        """None: a key may first appear in the last line."""
        return None

    def read(self, file: DataFile, columns: Sequence[str], coded: Sequence[str]) -> Iterator[pa.Table]:  # noqa: ARG002
        try:
            table = _read(file, None)
            times = [field for field in table.schema if pa.types.is_timestamp(field.type)]
            if times:  # Arrow turns text that looks like a time into timestamps; here it stays text, as in CSV
                table = _read(file, pa.schema([field.with_type(pa.string()) for field in times]))
            table.validate(full=True)  # Arrow's reader does not check the encoding
        except pa.ArrowInvalid:
            check_encoding(file, UTF8)
            table = _read_slowly(file, columns)
        lacking = set(columns) - set(table.column_names)
        yield table if lacking else table.select(list(columns))  # all names are needed to suggest the nearest one


def _read(file: DataFile, schema: pa.Schema | None) -> pa.Table:
    with opened(file) as stream:
        return pajson.read_json(
            native(stream),
            read_options=pajson.ReadOptions(block_size=_READ_BYTES),
            parse_options=pajson.ParseOptions(explicit_schema=schema),
        )


def _read_slowly(file: DataFile, columns: Sequence[str]) -> pa.Table:
    """Read a file that Arrow refuses. Columns of mixed types become text; an error names the line without an object."""
    rows = list(_objects(file))
    if not rows:
        raise UnreadableFileError("is empty.")
    names = dict.fromkeys(key for row in rows for key in row)
    chosen = columns if set(columns) <= set(names) else names
    return pa.table({name: _column([row.get(name) for row in rows]) for name in chosen})


def _objects(file: DataFile) -> Iterator[dict[str, Any]]:
    with opened(file) as stream:
        for number, line in enumerate(stream, start=1):
            if not line.strip():
                continue
            try:
                found = json.loads(line)
            except ValueError as error:
                raise UnreadableFileError(f"is no JSON lines file: line {number:,} is no JSON ({error}).") from error
            if not isinstance(found, dict):
                raise UnreadableFileError(f"is no JSON lines file: line {number:,} is no object. One object a line.")
            yield found


def _column(values: list[Any]) -> pa.Array:
    try:
        return pa.array(values)
    except (pa.ArrowInvalid, pa.ArrowTypeError):
        return pa.array([value if value is None or isinstance(value, str) else json.dumps(value) for value in values])
