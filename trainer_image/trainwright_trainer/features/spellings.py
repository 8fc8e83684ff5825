"""Values of a vocabulary in other spellings: a CSV file has True and 1.0 where typed columns have true and 1."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from trainwright_trainer.features.texts import float_text, without_zeros

_VARIED = r"^((?i:true|false)|[+-]?[0-9]+(\.[0-9]*)?|[0-9-]+ [0-9:]+(\.[0-9]+)?(Z|[+-][0-9]+)?)$"
"""The texts that have another spelling."""
_LONG = r"^[+-]?[0-9]+\.[0-9]{9,}$"
"""The texts that float32 numbers can have as float64: the vocabularies of older models have them."""


def indices_in(texts: pa.Array, vocabulary: Sequence[str]) -> pa.Array:
    """int32: the index of each text in the vocabulary; null for one that is not in it.

    A text that is not in it has the index of the first text that spells the same value: true and false in upper or
    lower case, numbers and times with or without zeros at the end of their fractions, and float32 numbers with all the
    digits of their value as float64.
    """
    known = pa.array(vocabulary, pa.string())
    found = pc.index_in(texts, value_set=known)
    if not found.null_count:
        return found
    rest = texts.filter(found.is_null())
    if not pc.any(pc.match_substring_regex(rest, _VARIED)).as_py():
        return found
    return pc.replace_with_mask(found, found.is_null(), pc.index_in(_plain(rest), value_set=_plain(known)))


def _plain(texts: pa.Array) -> pa.Array:
    """The texts; those with other spellings as `texts.texts_of` spells booleans, floats and times."""
    lower = pc.if_else(pc.match_substring_regex(texts, r"^(?i:true|false)$"), pc.utf8_lower(texts), texts)
    shorter = pc.replace_substring_regex(without_zeros(lower), r"^([+-]?[0-9]+\.[0-9]*[1-9])0+$", r"\1")
    plain = pc.replace_substring_regex(shorter, r"^([+-]?[0-9]+)\.0*$", r"\1")
    is_long = pc.match_substring_regex(plain, _LONG)
    return pc.replace_with_mask(
        plain, is_long, pa.array(map(_of_float32, plain.filter(is_long).to_pylist()), pa.string())
    )


def _of_float32(text: str) -> str | None:
    number = float(text)
    with np.errstate(over="ignore"):
        is_one = float(np.float32(number)) == number
    return float_text(number, np.float32) if is_one else text
