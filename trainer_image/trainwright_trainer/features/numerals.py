"""Convert text to numbers strictly: every text that is not a number is reported, and no type is guessed from rows."""

from __future__ import annotations

import re

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from trainwright_trainer.features.column import Mask, Points

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
GROUPED = r"[1-9][0-9]{0,2}(?:\.[0-9]{3})+"
"""Digits in which points can separate thousands, as in 1.007 and 1.234.567. No thousands begin with a zero."""
THOUSANDS = rf"^\s*[+-]?{GROUPED}(,[0-9]+)?\s*$"
WITH_SIGNS = re.compile(
    r"\s*[+\-\u2212]?\s?[$€£¥]?\s?[+\-\u2212]?(?:\d{1,3}(?:[.,'\s]\d{3})+|\d+)(?:[.,]\d+)?\s?[$€£¥%]?\s*"
)
"""Numbers as people write them: with separators of thousands, or with the sign of a currency or of percent."""
_DECIMALS = r"^\s*[+-]?[0-9]*\.[0-9]+([eE][+-]?[0-9]+)?\s*$"


def numbers_of(texts: pa.Array, points: Points = "decimals") -> tuple[pa.DoubleArray, Mask | None]:
    """The numbers, and a mask of the texts that are not numbers (None if there are none).

    A number is null if its text is a word for a missing value or is not a number. A numeral has digits and at most one
    decimal point, and may have a sign, an exponent, and white space around it. A text with separators of thousands is
    not a number.
    """
    grouped = _thousands_in(texts, points)
    if grouped is not None:
        numbers, unfit = _some_numbers_of(pc.if_else(pa.array(grouped), None, texts))
        return numbers, grouped if unfit is None else unfit | grouped
    try:
        return pc.cast(texts, pa.float64()), None
    except pa.ArrowInvalid:
        return _some_numbers_of(texts)


def _thousands_in(texts: pa.Array, points: Points) -> Mask | None:
    """A mask of the texts in which a point separates thousands. None if there are none."""
    if points == "decimals":
        return None
    grouped = pc.fill_null(pc.match_substring_regex(texts, THOUSANDS), False)
    if not pc.any(grouped).as_py():
        return None
    decimals = pc.and_not(pc.match_substring_regex(texts, _DECIMALS), grouped)
    if points == "unclear" and pc.any(decimals).as_py():
        return None
    mask: Mask = grouped.to_numpy(zero_copy_only=False)
    return mask


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
