"""The text of a value, with one spelling for all file formats and Arrow types; and exact counts of values.

The counts are computed block by block. The result does not depend on the order of the blocks.
"""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from trainwright_trainer.features.errors import WrongTypeError, kind_of

TEXTUAL = ("text", "whole numbers", "numbers", "true and false", "dates", "empty")
"""The kinds of columns whose values can be written as text."""
_BYTES = "holds bytes that are no text in UTF-8. Write the column as text. (A feature of type image reads bytes.)"


def check_encoding(values: pa.Array) -> None:
    """Raise `WrongTypeError` for text that is not UTF-8. Binary formats can hold it; later steps cannot handle it."""
    texts = values.dictionary if pa.types.is_dictionary(values.type) else values
    if kind_of(texts.type) != "text":
        return
    try:
        texts.validate(full=True)
    except pa.ArrowInvalid as error:
        raise WrongTypeError("holds text that is not UTF-8.") from error


def without_bytes(values: pa.Array) -> pa.Array:
    """The column with its bytes as text: some programs write Parquet files that do not mark text as such.

    Raises `WrongTypeError` for bytes and for text that are not UTF-8.
    """
    check_encoding(values)
    kind = _without_bytes(values.type)
    if kind == values.type:
        return values
    try:
        return pc.cast(values, kind)
    except pa.ArrowInvalid as error:
        raise WrongTypeError(_BYTES) from error


def _without_bytes(kind: pa.DataType) -> pa.DataType:
    """The type with text in place of bytes."""
    if pa.types.is_dictionary(kind):
        return pa.dictionary(kind.index_type, _without_bytes(kind.value_type))
    if pa.types.is_fixed_size_list(kind):
        return pa.list_(_without_bytes(kind.value_type), kind.list_size)
    if pa.types.is_list(kind):
        return pa.list_(_without_bytes(kind.value_type))
    if pa.types.is_large_list(kind):
        return pa.large_list(_without_bytes(kind.value_type))
    if kind_of(kind) == "bytes":
        return pa.large_string() if pa.types.is_large_binary(kind) else pa.string()
    return kind


_NARROW: dict[pa.DataType, type[np.floating[Any]]] = {pa.float16(): np.float16, pa.float32(): np.float32}
"""The floats whose shortest decimal form has fewer digits than that of float64."""


def float_text(value: float, narrow: type[np.floating[Any]] | None = None) -> str | None:
    """The text of a float, None for NaN. `narrow`: its own type, if that is not float64."""
    if value != value:
        return None
    if value.is_integer():
        return str(int(value))
    return repr(value if narrow is None else float(str(narrow(value))))


def _decimal_text(value: Decimal) -> str:
    text = f"{value:f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def without_zeros(times: pa.Array) -> pa.Array:
    """The texts of times without zeros at the end of their fractions of a second: all units of a time have one text."""
    shorter = pc.replace_substring_regex(times, r"(:\d\d\.\d*?)0+(Z|[+-]\d+)?$", r"\1\2")
    return pc.replace_substring_regex(shorter, r"(:\d\d)\.(Z|[+-]\d+)?$", r"\1\2")


def texts_of(values: pa.Array) -> pa.Array:
    """The values as `pa.string()`. Nulls stay null, and NaN becomes null.

    Whole numbers have no decimal point, whatever their type, because a column of whole numbers with a gap is often
    stored as floats. Other floats have the shortest decimal form of their own type, decimals and times no zeros at the
    end of their fractions, booleans are true and false.
    """
    if pa.types.is_string(values.type):
        return values
    if pa.types.is_floating(values.type):
        numbers = pc.cast(values, pa.float64()).to_pylist()
        narrow = _NARROW.get(values.type)
        return pa.array([None if number is None else float_text(number, narrow) for number in numbers], pa.string())
    if pa.types.is_decimal(values.type):
        decimals = values.to_pylist()
        return pa.array([None if number is None else _decimal_text(number) for number in decimals], pa.string())
    texts = pc.cast(values, pa.string())
    return without_zeros(texts) if pa.types.is_timestamp(values.type) else texts


def lowered(texts: pa.Array, symbols: Sequence[str]) -> pa.Array:
    """The texts in lower case, but for those that are one of the symbols."""
    lower, kept = pc.utf8_lower(texts), pc.is_in(texts, value_set=pa.array(symbols, texts.type))
    return pc.if_else(kept, texts, lower) if pc.any(kept).as_py() else lower


def dictionary_of(values: pa.Array) -> pa.DictionaryArray:
    """The column as a dictionary of texts, so that each distinct value is processed only once.

    Raises `WrongTypeError` for kinds of values without a text, such as lists.
    """
    if kind_of(values.type) not in TEXTUAL:
        raise WrongTypeError(f"holds {kind_of(values.type)}, which have no text of their own.")
    coded = values if pa.types.is_dictionary(values.type) else pc.dictionary_encode(values)
    texts = texts_of(coded.dictionary)
    if texts.null_count:
        return pc.dictionary_encode(pc.take(texts, coded.indices))
    return pa.DictionaryArray.from_arrays(coded.indices, texts)


def counts_of(values: pa.Array) -> pa.Table:
    """The columns `value` and `count` (int64) of one block, without nulls."""
    coded = values if pa.types.is_dictionary(values.type) else values.dictionary_encode()
    codes = coded.indices.drop_null().to_numpy()
    counts = np.bincount(codes, minlength=len(coded.dictionary)) if len(codes) else np.zeros(len(coded.dictionary), int)
    table = pa.table({"value": coded.dictionary, "count": counts.astype(np.int64)})
    return table.filter(pa.array(counts > 0))


def total(blocks: Sequence[pa.Table]) -> pa.Table:
    """The sum of the blocks' counts, in descending order of count, then in ascending order of value (UTF-8 bytes)."""
    table = pa.concat_tables(blocks).group_by("value").aggregate([("count", "sum")])
    table = table.rename_columns({"value": "value", "count_sum": "count"})
    return table.sort_by([("count", "descending"), ("value", "ascending")])


def merged_counts(states: Sequence[tuple[int, int, pa.Table]]) -> tuple[int, int, pa.Table]:
    """The sums of rows, missing values and counts of several blocks."""
    rows, missing = (sum(state[part] for state in states) for part in (0, 1))
    return rows, missing, total([state[2] for state in states])
