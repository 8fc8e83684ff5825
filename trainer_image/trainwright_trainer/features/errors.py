"""The errors of a column. `data.transforms` turns them into `Mistakes` for the user."""

from __future__ import annotations

from typing import Any

import pyarrow as pa


class BadValueError(Exception):
    """A value that its feature cannot read. `row` counts from 0 in the source; messages show row + 1.

    `message` continues "column 'x' " with the error and the remedy. `{row}` and `{value}` in it are placeholders.
    """

    def __init__(self, row: int, value: Any, message: str = "") -> None:
        self.row, self.value, self.message = row, value, message
        super().__init__(row, value, message)


class WrongTypeError(Exception):
    """A column cannot be read, or does not fit its feature as a whole. The message continues "column 'x' "."""


_KINDS = (
    ("text", ("is_string", "is_large_string", "is_string_view")),
    ("whole numbers", ("is_integer",)),
    ("numbers", ("is_floating", "is_decimal")),
    ("true and false", ("is_boolean",)),
    ("dates", ("is_date", "is_timestamp")),
    ("lists", ("is_list", "is_large_list", "is_fixed_size_list")),
    ("bytes", ("is_binary", "is_large_binary", "is_binary_view", "is_fixed_size_binary")),
    ("empty", ("is_null",)),
)


def kind_of(kind: pa.DataType) -> str:
    """The plain name of a column type, for messages."""
    if pa.types.is_dictionary(kind):
        return kind_of(kind.value_type)
    return next((word for word, tests in _KINDS if any(getattr(pa.types, test)(kind) for test in tests)), str(kind))
