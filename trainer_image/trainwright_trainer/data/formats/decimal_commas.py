"""Numbers with a comma before their decimals, as in 12,5: their columns, and the same numbers with a point."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence

import pyarrow as pa
import pyarrow.compute as pc

from trainwright_trainer.features.numerals import GROUPED, MISSING_SIGNS, MISSING_WORDS

_NUMBER = re.compile(rf"\s*[+-]?(?:\d+|{GROUPED})(?:,\d+)?\s*")
_DECIMALS = re.compile(rf"\s*[+-]?(?:\d+,(?!\d{{3}}\s*$)\d+|{GROUPED},\d+)\s*")
"""A comma that can be no separator of thousands."""
_COMMA, _POINT = r"^(\s*[+-]?\d+),(\d+\s*)$", r"\1.\2"
_THREE, _FOUR = r"^(\s*[+-]?[1-9]\d{0,2}),(\d{3})(\s*)$", r"\1.\20\3"
"""A comma before three digits: with a zero more, the point in its place is none before three digits."""
_NO_NUMBERS = frozenset({*MISSING_WORDS, *MISSING_SIGNS})


def comma_columns(rows: Sequence[Sequence[str]]) -> frozenset[int]:
    """The places of the columns with decimal commas: all values are numbers, and some have a comma.

    `rows` have no header. There are none if every comma stands before three digits: it may separate thousands.
    """
    columns = ([value for value in column if value.strip() not in _NO_NUMBERS] for column in zip(*rows, strict=True))
    numbers = {place: given for place, given in enumerate(columns) if given and all(map(_NUMBER.fullmatch, given))}
    if not any(_DECIMALS.fullmatch(value) for given in numbers.values() for value in given):
        return frozenset()
    return frozenset(place for place, given in numbers.items() if any("," in value for value in given))


def with_points(table: pa.Table, names: Collection[str]) -> pa.Table:
    """The table with a point for the comma in each number of these columns. Other texts stay.

    Three decimals become four, because a point before three digits separates thousands in these columns.
    """
    for place, name in enumerate(table.column_names):
        if name in names:
            chunks = [_pointed(chunk) for chunk in table.column(place).chunks]
            table = table.set_column(place, name, pa.chunked_array(chunks, table.schema.field(place).type))
    return table


def _pointed(values: pa.Array) -> pa.Array:
    if pa.types.is_dictionary(values.type):
        # Two texts, such as 1,5 and 1.5, may become one. A dictionary must not have it twice.
        return pc.cast(_pointed(values.dictionary_decode()).dictionary_encode(), values.type)
    return pc.replace_substring_regex(pc.replace_substring_regex(values, _THREE, _FOUR), _COMMA, _POINT)
