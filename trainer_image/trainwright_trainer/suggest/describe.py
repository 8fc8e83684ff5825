"""One line about a column, for the comments of a suggested job."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pyarrow as pa

from trainwright_trainer.callbacks.formats import counted
from trainwright_trainer.features import binary
from trainwright_trainer.features.column import Feature
from trainwright_trainer.suggest.column_type import TypeChoice, words_of
from trainwright_trainer.suggest.profile import ColumnProfile
from trainwright_trainer.suggest.shown import share, short

_SHOWN_VALUES = 3


def described(column: ColumnProfile, choice: TypeChoice) -> str:
    """The content of the column in words: `18 to 79 · 3 % missing`."""
    found = [_content(column, choice)]
    if column.missing:
        found.append(f"{share(column.missing / column.rows)} missing")
    if words := words_of(column, choice):
        shown = ", ".join(repr(short(word)) for word in words)
        verb = "counts" if len(words) == 1 else "count"
        found.append(f"{shown} {verb} as missing ({counted(sum(words.values()), 'row')})")
    if column.infinite and choice.type == "number":
        found.append(f"infinite in {counted(column.infinite, 'row')}: drop_row leaves them out")
    return " · ".join(found)


def positive_value(column: ColumnProfile) -> tuple[str, str, float]:
    """The positive value of a binary target, the other one, and the share of rows with the first."""
    counts = {_text(value, column): count for value, count in (column.distinct.counts or {}).items()}
    table = pa.table({"value": list(counts), "count": pa.array(counts.values(), pa.int64())})
    feature = Feature(column.name, column.name, "binary", True, _OPTIONS, "")
    found = binary.conclude(feature, [(column.rows, column.missing, table)], {})
    return found["true"], found["false"], found["counts"][1] / max(sum(found["counts"]), 1)


class _Options:
    """The preprocessing options of a binary target that `binary` reads, at their defaults."""

    missing_value_strategy = "drop_row"
    fallback_true_label = None
    fill_value = None


_OPTIONS = _Options()


def _content(column: ColumnProfile, choice: TypeChoice) -> str:
    if choice.type == "number":
        return _range(column)
    has_values = choice.type in ("binary", "category") and column.distinct.counts is not None
    return _values(column) if has_values else choice.reason


def _range(column: ColumnProfile) -> str:
    return f"{_number(column.least)} to {_number(column.most)}"


def _number(value: float) -> str:
    return f"{value:,.0f}" if value == int(value) else f"{value:.4g}"


def _values(column: ColumnProfile) -> str:
    """`3 values: basic 35 %, team 33 %, plus 32 %`, the most frequent first."""
    counts = column.distinct.counts or {}
    most = sorted(counts.items(), key=lambda item: (-item[1], str(item[0])))[:_SHOWN_VALUES]
    shown = ", ".join(f"{short(_text(value, column))} {share(count / column.given)}" for value, count in most)
    more = ", …" if len(counts) > len(most) else ""
    spaced = len({str(value).strip() for value in counts}) < len(counts)
    alike = ", some of which differ only in the spaces around them" if spaced else ""
    return f"{len(counts):,} values: {shown}{more}{alike}"


def _text(value: Any, column: ColumnProfile) -> str:
    """A value as `features.texts` writes it."""
    if column.kinds == {"true and false"}:
        return "true" if value else "false"
    if column.kinds == {"dates"}:
        return datetime.fromtimestamp(value, UTC).isoformat(sep=" ")[:10]
    if isinstance(value, float):
        return str(int(value)) if value.is_integer() else repr(value)
    return str(value)
