"""JSON: one object on each line, or one array of objects."""

from __future__ import annotations

import io
import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager
from typing import IO, Any

import pyarrow as pa
import pyarrow.json as pajson

from trainwright_trainer.data.datafile import DataFile
from trainwright_trainer.data.formats.dialect import UTF8, check_encoding
from trainwright_trainer.data.formats.reader import UnreadableFileError
from trainwright_trainer.data.formats.signatures import refuse_binary
from trainwright_trainer.data.formats.streams import native, opened
from trainwright_trainer.data.table_schema import flat

_READ_BYTES = 4 << 20
_HEAD_BYTES = 4096
_SAVE_IT = "JSON is always UTF-8: save the file so."
_BOTH_HALVES = r"Remove it, or write both halves, as in \ud83d\ude00."
_MARK = b"\xef\xbb\xbf"
_Lines = Callable[[], AbstractContextManager[IO[bytes]]]
"""Opens lines of JSON."""


class JsonReader:
    """Reads one file. Types are inferred from the whole file; a column of mixed types becomes text."""

    name = "JSON"
    notices: Sequence[str] = ()

    def columns(self, file: DataFile) -> list[str] | None:  # noqa: ARG002
        """None: a key may first appear in the last line."""
        return None

    def read(self, file: DataFile, columns: Sequence[str], coded: Sequence[str]) -> Iterator[pa.Table]:  # noqa: ARG002
        table = flat(_of_rows(_array(file), columns) if _is_array(file) else _of_lines(file, columns))
        has_each = all(table.column_names.count(name) == 1 for name in columns)
        yield table.select(list(columns)) if has_each else table  # all names are needed to suggest the nearest one


def _is_array(file: DataFile) -> bool:
    with opened(file) as stream:
        head = stream.read(_HEAD_BYTES)
    refuse_binary(head, file.path.name)
    return head.removeprefix(_MARK).lstrip().startswith(b"[")


def _of_lines(file: DataFile, columns: Sequence[str]) -> pa.Table:
    try:
        table = _typed(lambda: opened(file))
        table.validate(full=True)  # Arrow's reader does not check the encoding
    except pa.ArrowInvalid:
        check_encoding(file, UTF8, _SAVE_IT)
        return _of_rows(_objects(file), columns)
    return table


def _typed(lines: _Lines) -> pa.Table:
    table = _read(lines, None)
    fields = [field.with_type(_without_times(field.type)) for field in table.schema]
    return table if fields == list(table.schema) else _read(lines, pa.schema(fields))


def _without_times(kind: pa.DataType) -> pa.DataType:
    """Arrow turns text that looks like a time into timestamps. Here it stays text, as in CSV."""
    if pa.types.is_timestamp(kind):
        return pa.string()
    if pa.types.is_list(kind):
        return pa.list_(_without_times(kind.value_type))
    if pa.types.is_struct(kind):
        return pa.struct([field.with_type(_without_times(field.type)) for field in kind])
    return kind


def _read(lines: _Lines, schema: pa.Schema | None) -> pa.Table:
    with lines() as stream:
        return pajson.read_json(
            native(stream),
            read_options=pajson.ReadOptions(block_size=_READ_BYTES),
            parse_options=pajson.ParseOptions(explicit_schema=schema),
        )


def _of_rows(objects: Iterable[dict[str, Any]], columns: Sequence[str]) -> pa.Table:
    """The objects as a table. Columns of mixed types become text.

    Raises `UnreadableFileError` if there are none, or for a text that is none.
    """
    rows = list(objects)
    if not rows:
        raise UnreadableFileError("is empty.")
    names = dict.fromkeys(key for row in rows for key in row)
    is_flat = set(columns) <= set(names) and not any("." in name for name in columns)
    chosen = columns if is_flat else names
    try:
        return pa.table({name: _column([row.get(name) for row in rows]) for name in chosen})
    except UnicodeEncodeError as error:
        line = f"has {error.object[error.start]!r}, which is half of a character. {_BOTH_HALVES}"
        raise UnreadableFileError(line) from error


def _objects(file: DataFile) -> Iterator[dict[str, Any]]:
    """The object of each line. An error names the line without an object."""
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


def _array(file: DataFile) -> Iterator[dict[str, Any]]:
    """The objects of an array, which is read as a whole. An error names the item without an object."""
    check_encoding(file, UTF8, _SAVE_IT)
    with opened(file) as stream:
        try:
            found = json.loads(stream.read().removeprefix(_MARK))
        except ValueError as error:
            raise UnreadableFileError(f"is no JSON: {error}.") from error
    for number, item in enumerate(found, start=1):
        if not isinstance(item, dict):
            raise UnreadableFileError(f"is no array of objects: item {number:,} is none.")
        yield item


def _column(values: list[Any]) -> pa.ChunkedArray | pa.Array:
    """Large whole numbers become floats, as in lines of JSON."""
    try:
        return pa.array(values)
    except (pa.ArrowInvalid, pa.ArrowTypeError, OverflowError):
        lines = "\n".join(json.dumps({"": value}) for value in values).encode()
    try:
        return _typed(lambda: io.BytesIO(lines)).column("")
    except pa.ArrowInvalid:
        return pa.array([value if value is None or isinstance(value, str) else json.dumps(value) for value in values])
