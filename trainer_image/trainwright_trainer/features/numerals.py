"""Text to numbers, strictly: what is no number is said to be none, and nothing is guessed from the first rows."""

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
"""The words that text formats write for a missing value, as pandas (and so Ludwig) reads them."""

_NUMERAL = r"^[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?$"


def numbers_of(texts: pa.Array) -> tuple[pa.DoubleArray, Mask | None]:
    """The numbers, null where the text is a missing word or unfit; and where it is unfit (None: nowhere).

    A numeral has digits, at most one point, perhaps a sign, an exponent, and white space around it.
    """
    try:
        return pc.cast(texts, pa.float64()), None
    except pa.ArrowInvalid:
        return _some_numbers_of(texts)


def _some_numbers_of(texts: pa.Array) -> tuple[pa.DoubleArray, Mask | None]:
    trimmed = pc.utf8_trim_whitespace(texts)
    trimmed = pc.if_else(pc.is_in(trimmed, value_set=pa.array(MISSING_WORDS, trimmed.type)), None, trimmed)
    fit = pc.match_substring_regex(trimmed, _NUMERAL)
    unfit = pc.fill_null(pc.invert(fit), False).to_numpy(zero_copy_only=False)
    numerals = pc.if_else(fit, pc.replace_substring_regex(trimmed, r"^\+", ""), None)
    return pc.cast(numerals, pa.float64()), unfit if np.any(unfit) else None
