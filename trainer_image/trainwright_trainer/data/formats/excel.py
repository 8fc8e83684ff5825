"""Excel: the first sheet of a workbook, by the extra `excel` (python-calamine)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import date, datetime
from typing import Any

import pyarrow as pa

from trainwright_api.problems import Mistakes
from trainwright_trainer.data.datafile import DataFile
from trainwright_trainer.data.formats.reader import UnreadableFileError


class ExcelReader:
    """Reads the first sheet, whose first row with a value holds the names. A column of mixed types becomes text."""

    name = "Excel"
    notices: Sequence[str] = ()

    def columns(self, file: DataFile) -> list[str] | None:
        return _header(_rows(file))

    def read(self, file: DataFile, columns: Sequence[str], coded: Sequence[str]) -> Iterator[pa.Table]:  # noqa: ARG002
        rows = _rows(file)
        names = _header(rows)
        values = [list(column) for column in zip(*rows[1:], strict=True)] or [[] for _ in names]
        chosen = [position for position, name in enumerate(names) if name in columns]
        yield pa.table([_column(values[position]) for position in chosen], names=[names[p] for p in chosen])


def _rows(file: DataFile) -> list[list[Any]]:
    """The rows from the first one with a value on, all of one length. Raises `Mistakes` without the extra."""
    try:
        from python_calamine import CalamineError, CalamineWorkbook
    except ImportError as error:
        line = "reading Excel needs one more package: pip install 'trainwright[excel]'"
        raise Mistakes.one("dataset", f"{line}, or save {file.path.name!r} as CSV") from error
    try:
        with file.open() as stream:
            rows: list[list[Any]] = CalamineWorkbook.from_filelike(stream).get_sheet_by_index(0).to_python()
    except CalamineError as error:
        raise UnreadableFileError(f"is no readable Excel file: {str(error).rstrip('.')}.") from error
    if not rows:
        raise UnreadableFileError("is empty: its first sheet has no value.")
    return rows


def _header(rows: list[list[Any]]) -> list[str]:
    return [_text(name) for name in rows[0]]


def _column(values: list[Any]) -> pa.Array:
    """An empty cell is null. Numbers are floats, days are times at midnight; a mix of kinds becomes text."""
    cells = [None if value == "" else value for value in values]
    kinds = {type(cell) for cell in cells if cell is not None}
    if kinds <= {int, float}:
        return pa.array(cells, pa.float64() if kinds else pa.null())
    if kinds <= {date, datetime}:
        return pa.array([datetime(*cell.timetuple()[:6]) if cell else None for cell in cells], pa.timestamp("s"))
    if len(kinds) == 1 and kinds <= {str, bool}:
        return pa.array(cells)
    return pa.array([None if cell is None else _text(cell) for cell in cells], pa.string())


def _text(cell: Any) -> str:
    if isinstance(cell, bool):
        return str(cell).lower()
    return str(int(cell)) if isinstance(cell, float) and cell.is_integer() else str(cell)
