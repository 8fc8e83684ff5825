"""Check that the files of a data set have the wanted columns, each once and with one kind of values in all files."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import pyarrow as pa

from trainwright_api.problems import Mistakes, Problem, nearest_names
from trainwright_trainer.data.files import Files
from trainwright_trainer.data.formats import FORMATS
from trainwright_trainer.features.errors import kind_of

_MOST_NAMES, _MAX_CHARACTERS = 3, 60
Wanted = Sequence[tuple[str, str]]
"""Pairs of a path in the config and the column that it names."""


def check_columns(files: Files, name: str, columns: Sequence[str], wanted: Wanted) -> None:
    """Raise `Mistakes` for wanted columns that `columns`, those of the file called `name`, do not contain once."""
    if len(columns) == 1 and FORMATS[files.format].has_dialect and any(column != columns[0] for _, column in wanted):
        line = f"{name!r} has one column, {_shortened(columns[0])!r}. Is its delimiter another one? "
        raise Mistakes.one("dataset", f'{line}Set datasetOptions.delimiter, as in ";".')
    check_names(name, columns, wanted)


def check_names(name: str, columns: Sequence[str], wanted: Wanted) -> None:
    """Raise `Mistakes` for wanted columns that `columns`, those of the table called `name`, do not contain once."""
    lines = [Problem(path, line) for path, column in wanted if (line := _lack(name, columns, column))]
    if lines:
        raise Mistakes(lines)


def _shortened(name: str) -> str:
    return name if len(name) <= _MAX_CHARACTERS else f"{name[:_MAX_CHARACTERS]}…"


def _lack(dataset: str, columns: Sequence[str], column: str) -> str | None:
    if columns.count(column) == 1:
        return None
    if column in columns:
        return f"{column!r} is the name of {columns.count(column)} columns of {dataset}. Name each differently."
    near = ", ".join(map(repr, nearest_names(column, columns, _MOST_NAMES)))
    return f"{column!r} is not in {dataset}." + (f" Nearest: {near}." if near else "")


def agree(kinds: dict[str, tuple[str, str]], name: str, table: pa.Table, columns: Sequence[str]) -> None:
    """Raise `Mistakes` if `columns` are not in the table called `name`, or of another kind than in earlier tables.

    `kinds` has the kind of each column, and of the items of its lists, and the name of the first file with it. Whole
    numbers count as numbers.
    """
    present = [column for column in columns if table.column_names.count(column) == 1]
    found = [f"it has no column {column!r}" for column in columns if column not in present]
    for column in present:
        for part, kind in _kins(repr(column), table.schema.field(column).type):
            before, file = kinds.setdefault(part, (kind, name))
            if kind != before:
                found.append(f"{part} holds {kind}, but {before} in {file!r}")
                break
    if found:
        raise Mistakes.one("dataset", f"{name!r} differs from the files before it: {'; '.join(found)}.")


def _kins(part: str, kind: pa.DataType) -> Iterator[tuple[str, str]]:
    """The kind of a column, and that of the items of its lists, each if any value tells it."""
    found = _kin(kind)
    if found != "empty":
        yield part, found
    if found == "lists":
        yield from _kins(f"a list of {part}", kind.value_type)


def _kin(kind: pa.DataType) -> str:
    """The kind of a type, in which the columns of all files have to agree."""
    if pa.types.is_decimal(kind):
        return "decimals"
    if pa.types.is_timestamp(kind) and kind.tz is not None:
        return f"times in the zone {kind.tz}"
    return "numbers" if kind_of(kind) == "whole numbers" else kind_of(kind)
