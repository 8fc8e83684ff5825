"""Assign a part of the split to every row, as the config's preprocessing section says."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from trainwright_api.problems import Mistakes, Problem
from trainwright_trainer.data.chronology import borders, parts_by_time, sampled_seconds
from trainwright_trainer.data.prepared import SPLIT_NAMES, UNSAMPLED
from trainwright_trainer.data.rows import RawColumn
from trainwright_trainer.data.split import Parts, fixed_parts, hash_parts, random_parts, sampled
from trainwright_trainer.data.stratify import Classes, StratifiedParts
from trainwright_trainer.features.column import Mask
from trainwright_trainer.features.errors import BadValueError, WrongTypeError
from trainwright_trainer.features.texts import without_bytes

_PATH = "config.preprocessing.split"


def column_of(preprocessing: Any) -> str | None:
    """The column from which the split is read, or None."""
    column: str | None = getattr(preprocessing.split, "column", None)
    return column


def parts_of(preprocessing: Any, seed: int, rows: int, column: RawColumn | None) -> Parts:
    """uint8 [rows], `UNSAMPLED` for rows that are not sampled. `column` is the column of `column_of`.

    Raises `Mistakes`.
    """
    split = preprocessing.split
    kept = sampled(seed, rows, preprocessing.sample_ratio, preprocessing.sample_size)
    if column is None:
        parts = random_parts(seed, np.arange(rows), split.probabilities)
    else:
        checked = RawColumn(_Checked(column.blocks), column.first_rows)
        parts = _from_column(split, _Rows(checked, _cut(kept, column), seed))
    parts[~kept] = UNSAMPLED
    return parts


@dataclass(frozen=True)
class _Rows:
    """The column of the split, and for each block a mask of the sampled rows."""

    column: RawColumn
    kept: Sequence[Mask]
    seed: int


def _cut(kept: Mask, column: RawColumn) -> list[Mask]:
    borders = [*column.first_rows, len(kept)]
    return [kept[start:stop] for start, stop in itertools.pairwise(borders)]


@dataclass(frozen=True)
class _Checked:
    """Blocks whose bytes are read as text, and whose text is UTF-8. Iterating them raises `WrongTypeError`."""

    blocks: Iterable[pa.Array]

    def __iter__(self) -> Iterator[pa.Array]:
        return map(without_bytes, self.blocks)


def _from_column(split: Any, rows: _Rows) -> Parts:
    try:
        return np.concatenate(_OF_A_COLUMN[split.type](split, rows))
    except BadValueError as error:
        message = error.message.format(row=f"{error.row + 1:,}", value=repr(error.value))
        raise Mistakes.one(f"{_PATH}.column", f"column {split.column!r} {message}") from error
    except WrongTypeError as error:
        raise Mistakes.one(f"{_PATH}.column", f"column {split.column!r} {error}") from error


def _by_hash(split: Any, rows: _Rows) -> list[Parts]:
    return [hash_parts(values, split.probabilities) for values in rows.column.blocks]


def _as_given(_: Any, rows: _Rows) -> list[Parts]:
    pairs = zip(rows.column.blocks, rows.column.first_rows, strict=True)
    return [fixed_parts(values, first_row) for values, first_row in pairs]


def _by_class(split: Any, rows: _Rows) -> list[Parts]:
    classes = Classes()
    for values, kept in zip(rows.column.blocks, rows.kept, strict=True):
        classes.count(values, kept)
    found = StratifiedParts(classes, rows.seed, split.probabilities)
    return [found.of(values, kept) for values, kept in zip(rows.column.blocks, rows.kept, strict=True)]


def _by_time(split: Any, rows: _Rows) -> list[Parts]:
    column, form = rows.column, split.datetime_format

    def seconds() -> Any:
        return sampled_seconds(column.blocks, column.first_rows, rows.kept, form)

    found = parts_by_time(seconds(), borders(seconds, split.probabilities))
    whole = []
    for kept, parts in zip(rows.kept, found, strict=True):
        whole.append(np.zeros(len(kept), dtype=np.uint8))
        whole[-1][kept] = parts
    return whole


_OF_A_COLUMN: Mapping[str, Callable[[Any, _Rows], list[Parts]]] = {
    "hash": _by_hash,
    "fixed": _as_given,
    "stratify": _by_class,
    "datetime": _by_time,
}
BUILT = ("random", *_OF_A_COLUMN)


def check_none_is_empty(parts: Parts, dropped: Sequence[Mask], preprocessing: Any) -> None:
    """Raise `Mistakes` for a part without rows, or for a part whose rows are all dropped by features.

    A part with a share of 0 may be empty; of a fixed split, all but the train part.
    """
    shares = getattr(preprocessing.split, "probabilities", (1, 0, 0))
    hint = "" if preprocessing.split.type == "fixed" else " Give more rows or other split.probabilities."
    all_rows = np.bincount(parts, minlength=UNSAMPLED + 1)
    valid = all_rows
    if dropped:
        gone = np.logical_or.reduce(dropped)
        valid = np.bincount(parts[~gone], minlength=UNSAMPLED + 1)
    lines = [
        Problem(_PATH, _empty_line(name, int(all_rows[part]), int(all_rows[:UNSAMPLED].sum()), hint))
        for part, name in enumerate(SPLIT_NAMES)
        if not valid[part] and (shares[part] > 0 or all_rows[part])
    ]
    if lines:
        raise Mistakes(lines)


def _empty_line(name: str, rows: int, of_all: int, hint: str) -> str:
    if rows:
        why = "a value is missing (missing_value_strategy drop_row), or no training row has the value of the target"
        return f"the {name} part has no row left: all {rows:,} of its rows are dropped. In each, {why}."
    return f"the {name} part is empty: none of the {of_all:,} rows is in it.{hint}"
