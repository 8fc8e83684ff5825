"""Assign a part of the split to every row, as the config's preprocessing section says."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from trainwright_api.problems import Mistakes, Problem
from trainwright_trainer.data.prepared import SPLIT_NAMES, UNSAMPLED
from trainwright_trainer.data.split import Parts, fixed_parts, hash_parts, random_parts, sampled
from trainwright_trainer.data.transforms import RawColumn
from trainwright_trainer.features.column import Mask
from trainwright_trainer.features.errors import BadValueError, WrongTypeError, check_encoding

_PATH = "config.preprocessing.split"
_NO_PART = (
    "column {column!r} holds {value!r} in row {row:,}; "
    "a part is 0, 1, 2 or train, validation, test. (Row 1 is the first row of data.)"
)


def column_of(preprocessing: Any) -> str | None:
    """The column from which the split is read, or None."""
    column: str | None = getattr(preprocessing.split, "column", None)
    return column


def parts_of(preprocessing: Any, seed: int, rows: int, column: RawColumn | None) -> Parts:
    """uint8 [rows], `UNSAMPLED` for rows that are not sampled. `column` is the column of `column_of`.

    Raises `Mistakes`.
    """
    split = preprocessing.split
    parts = _from_number(split, seed, rows) if column is None else _from_column(split, column)
    kept = sampled(seed, rows, preprocessing.sample_ratio, preprocessing.sample_size)
    parts[~kept] = UNSAMPLED
    return parts


def _from_number(split: Any, seed: int, rows: int) -> Parts:
    return random_parts(seed, np.arange(rows), split.probabilities)


def _from_column(split: Any, column: RawColumn) -> Parts:
    try:
        for values in column.blocks:
            check_encoding(values)
        return np.concatenate(_OF_A_COLUMN[split.type](split, column))
    except BadValueError as error:
        message = _NO_PART.format(column=split.column, value=error.value, row=error.row + 1)
        raise Mistakes.one(f"{_PATH}.column", message) from error
    except WrongTypeError as error:
        raise Mistakes.one(f"{_PATH}.column", f"column {split.column!r} {error}") from error


def _by_hash(split: Any, column: RawColumn) -> list[Parts]:
    return [hash_parts(values, split.probabilities) for values in column.blocks]


def _as_given(_: Any, column: RawColumn) -> list[Parts]:
    pairs = zip(column.blocks, column.first_rows, strict=True)
    return [fixed_parts(values, first_row) for values, first_row in pairs]


_OF_A_COLUMN: Mapping[str, Callable[[Any, RawColumn], list[Parts]]] = {"hash": _by_hash, "fixed": _as_given}
BUILT = ("random", *_OF_A_COLUMN)


def check_none_is_empty(parts: Parts, dropped: Sequence[Mask], preprocessing: Any) -> None:
    """Raise `Mistakes` for a part without rows, or for a part whose rows are all dropped by features.

    A part with a share of 0 may be empty.
    """
    shares = getattr(preprocessing.split, "probabilities", None)
    all_rows = np.bincount(parts, minlength=UNSAMPLED + 1)
    valid = all_rows
    if dropped:
        gone = np.logical_or.reduce(dropped)
        valid = np.bincount(parts[~gone], minlength=UNSAMPLED + 1)
    lines = [
        Problem(_PATH, _empty_line(name, int(all_rows[part]), int(all_rows[:UNSAMPLED].sum())))
        for part, name in enumerate(SPLIT_NAMES)
        if not valid[part] and (shares is None or shares[part] > 0)
    ]
    if lines:
        raise Mistakes(lines)


def _empty_line(name: str, rows: int, of_all: int) -> str:
    if rows:
        return (
            f"the {name} part has no row left: all {rows:,} of its rows are dropped (missing_value_strategy drop_row)."
        )
    return f"the {name} part is empty: none of the {of_all:,} rows is in it."
