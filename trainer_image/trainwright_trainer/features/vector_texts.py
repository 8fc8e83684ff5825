"""The spellings of a vector in a text: those of pandas, numpy and JSON, as numbers with white space between them."""

from __future__ import annotations

import pyarrow as pa
import pyarrow.compute as pc

_BRACKETS = r"^(?:\[[^\[\]()]*\]|\([^\[\]()]*\))$"
_SEMICOLONS = r"^[^,;\s]+(?:\s*;\s*[^,;\s]+)+$"
_SPACED_COMMAS = r"^[^,;\s]+(?:\s*,\s+[^,;\s]+)+$"
_CLOSE_COMMAS = r"^[^,;\s]+(?:,[^,;\s]+)*,?$"
_SEPARATOR = r"\s*[,;]\s*"


def in_brackets(texts: pa.Array) -> pa.BooleanArray:
    """True for a text in one pair of brackets. `texts` have no white space around them."""
    return pc.match_substring_regex(texts, _BRACKETS)


def spelt_plainly(texts: pa.Array) -> pa.Array:
    """The texts with white space in place of commas or semicolons, and without brackets. Other texts stay as they are.

    One kind of separator stands between all numbers. A comma is one before white space, or in brackets: elsewhere it
    may be a decimal comma. `texts` have no white space around them. Empty brackets become an empty text.
    """
    enclosed = in_brackets(texts)
    inner = pc.if_else(enclosed, pc.utf8_trim_whitespace(pc.utf8_slice_codeunits(texts, 1, -1)), texts)
    is_separated = pc.or_(pc.match_substring_regex(inner, _SEMICOLONS), pc.match_substring_regex(inner, _SPACED_COMMAS))
    is_separated = pc.or_(is_separated, pc.and_(enclosed, pc.match_substring_regex(inner, _CLOSE_COMMAS)))
    spaced = pc.utf8_trim_whitespace(pc.replace_substring_regex(inner, _SEPARATOR, " "))
    return pc.if_else(is_separated, spaced, inner)
