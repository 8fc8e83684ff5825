"""Convert text to numbers strictly: every text that is not a number is reported, and no type is guessed from rows."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from trainwright_trainer.features.column import Mask

MISSING_WORDS = (
    "",
    "#N/A",
    "#N/A N/A",
    "#NA",
    "-1.#IND",
    "-1.#QNAN",
    "-NaN",
    "-nan",
    "1.#IND",
    "1.#QNAN",
    "<NA>",
    "N/A",
    "NA",
    "NULL",
    "NaN",
    "None",
    "n/a",
    "nan",
    "null",
)
"""The texts that count as a missing value, as in pandas (and so in Ludwig)."""
MISSING_SIGNS = ("?", "-")
"""Further texts that count as a missing value where numbers or dates are expected. In other columns they are values."""

_NUMERAL = r"^[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?$"


def numbers_of(texts: pa.Array) -> tuple[pa.DoubleArray, Mask | None]:
    """The numbers, and a mask of the texts that are not numbers (None if there are none).

    A number is null if its text is a word for a missing value or is not a number. A numeral has digits and at most one
    decimal point, and may have a sign, an exponent, and white space around it.
    """
    try:
        return pc.cast(texts, pa.float64()), None
    except pa.ArrowInvalid:
        return _some_numbers_of(texts)


def without_words(texts: pa.Array) -> pa.Array:
    """The texts, with null for each word and sign for a missing value."""
    words = pa.array([*MISSING_WORDS, *MISSING_SIGNS], texts.type)
    return pc.if_else(pc.is_in(texts, value_set=words), None, texts)


def _some_numbers_of(texts: pa.Array) -> tuple[pa.DoubleArray, Mask | None]:
    trimmed = without_words(pc.utf8_trim_whitespace(texts))
    fit = pc.match_substring_regex(trimmed, _NUMERAL)
    unfit = pc.fill_null(pc.invert(fit), False).to_numpy(zero_copy_only=False)
    numerals = pc.if_else(fit, pc.replace_substring_regex(trimmed, r"^\+", ""), None)
    return pc.cast(numerals, pa.float64()), unfit if np.any(unfit) else None
