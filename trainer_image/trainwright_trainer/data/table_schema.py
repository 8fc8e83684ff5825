"""Schemas of tables: nested columns as columns of their own, and types that tables of several files have in common."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pyarrow as pa
import pyarrow.compute as pc

from trainwright_api.problems import Mistakes

_UNFIT = (pa.ArrowTypeError, pa.ArrowInvalid)


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
    if pa.types.is_dictionary(kind):
        return pa.dictionary(pa.int32(), _usual_type(kind.value_type))
    return _usual_list(kind) if _is_list(kind) else kind


def _usual_list(kind: pa.DataType) -> pa.DataType:
    items = _usual_type(kind.value_type)
    if items == kind.value_type:
        return kind
    if pa.types.is_fixed_size_list(kind):
        return pa.list_(items, kind.list_size)
    return pa.large_list(items) if pa.types.is_large_list(kind) else pa.list_(items)


def joined(tables: list[pa.Table]) -> pa.Table:
    """The rows of all tables. Columns of the same kind get the wider type, and their plain type if Arrow has no wider.

    Raises `Mistakes` for a column whose types do not fit together.
    """
    try:
        return pa.concat_tables(tables, promote_options="permissive")
    except _UNFIT:
        return pa.table(
            {name: _joined(name, [table.column(name) for table in tables]) for name in tables[0].schema.names}
        )


def _joined(name: str, parts: list[pa.ChunkedArray]) -> pa.ChunkedArray:
    """Arrow does not join dictionaries with texts, dates with times, or whole numbers above 2^53 with floats."""
    for type_of in (_same, _decoded, _plain):
        try:
            tables = [pa.table({name: _cast(part, type_of(part.type))}) for part in parts]
            return pa.concat_tables(tables, promote_options="permissive").column(name)
        except _UNFIT:
            continue
    kinds = " and ".join(sorted({str(part.type) for part in parts}))
    raise Mistakes.one("dataset", f"{name!r} has types in its files that do not fit together: {kinds}.")


def _cast(column: pa.ChunkedArray, kind: pa.DataType) -> pa.ChunkedArray:
    """As pandas does, it rounds whole numbers to floats, and times to microseconds."""
    return pc.cast(column, options=pc.CastOptions(kind, allow_float_truncate=True, allow_time_truncate=True))


def _same(kind: pa.DataType) -> pa.DataType:
    return kind


def _decoded(kind: pa.DataType) -> pa.DataType:
    return kind.value_type if pa.types.is_dictionary(kind) else kind


def _plain(kind: pa.DataType) -> pa.DataType:
    """The type for all numbers, or for all times."""
    kind = _decoded(kind)
    if pa.types.is_integer(kind) or pa.types.is_floating(kind):
        return pa.float64()
    if pa.types.is_date(kind) or pa.types.is_timestamp(kind):
        return pa.timestamp("us", getattr(kind, "tz", None))
    return pa.list_(_plain(kind.value_type)) if _is_list(kind) else kind


def _is_list(kind: pa.DataType) -> bool:
    return bool(pa.types.is_list(kind) or pa.types.is_large_list(kind) or pa.types.is_fixed_size_list(kind))


def _changed(table: pa.Table, change: Callable[[pa.ChunkedArray], pa.ChunkedArray]) -> pa.Table:
    return pa.table([change(column) for column in table.columns], names=table.column_names)
