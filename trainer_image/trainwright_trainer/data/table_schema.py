"""Schemas of tables: nested columns as columns of their own, and types that tables of several files have in common."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pyarrow as pa
import pyarrow.compute as pc


def flat_names(schema: pa.Schema) -> list[str]:
    """The names of the columns of `flat`, from the schema alone."""
    return [name for field in schema for name in _names(field.name, field.type)]


def _names(name: str, kind: pa.DataType) -> Iterator[str]:
    if not pa.types.is_struct(kind):
        yield name
        return
    for field in kind:
        yield from _names(f"{name}.{field.name}", field.type)


def flat(table: pa.Table) -> pa.Table:
    """The table with each field `b` of a nested column `a` as `a.b`. Text, bytes and codes have Arrow's usual types."""
    while any(pa.types.is_struct(field.type) for field in table.schema):
        table = table.flatten()
    return _changed(table, _usual) if any(_usual_type(kind) != kind for kind in table.schema.types) else table


def _usual(column: pa.ChunkedArray) -> pa.ChunkedArray:
    kind = _usual_type(column.type)
    return column if kind == column.type else column.cast(kind)


def _usual_type(kind: pa.DataType) -> pa.DataType:
    """Arrow's functions do not take views of text and bytes, and the codes of one file may be too small for several."""
    if pa.types.is_string_view(kind):
        return pa.string()
    if pa.types.is_binary_view(kind):
        return pa.binary()
    return pa.dictionary(pa.int32(), kind.value_type) if pa.types.is_dictionary(kind) else kind


def joined(tables: list[pa.Table]) -> pa.Table:
    """The rows of all tables. Columns of the same kind get the wider type, and their plain type if Arrow has no wider.

    Arrow widens numbers, texts and times. It does not join dictionaries with texts, or dates with times.
    """
    try:
        return pa.concat_tables(tables, promote_options="permissive")
    except (pa.ArrowTypeError, pa.ArrowInvalid):
        return pa.concat_tables([_changed(table, _plain) for table in tables], promote_options="permissive")


def _plain(column: pa.ChunkedArray) -> pa.ChunkedArray:
    if pa.types.is_dictionary(column.type):
        return column.cast(column.type.value_type)
    return pc.cast(column, pa.timestamp("s")) if pa.types.is_date(column.type) else column


def _changed(table: pa.Table, change: Callable[[pa.ChunkedArray], pa.ChunkedArray]) -> pa.Table:
    return pa.table([change(column) for column in table.columns], names=table.column_names)
