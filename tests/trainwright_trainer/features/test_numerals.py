"""The texts that are numbers, and those that are not."""

from __future__ import annotations

import math

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from trainwright_trainer.features.numerals import MISSING_SIGNS, MISSING_WORDS, numbers_of


@given(st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=1))
def test_what_python_writes_is_read(numbers):
    found, unfit = numbers_of(pa.array([repr(number) for number in numbers]))
    assert unfit is None
    assert found.to_pylist() == numbers


@pytest.mark.parametrize("text", ["1.", ".5", "+1", " 2 ", "1E5", "-3e-2", "007", "1e400"])
def test_numerals(text):
    for texts in ([text], [text, "a"]):
        found, _ = numbers_of(pa.array(texts))
        assert found[0].as_py() == float(text)


@pytest.mark.parametrize("text", ["a", "1 2", "1,5", "0x10", "1_0", "--1", "e5", ".", "1e", "½", "١"])
def test_other_texts_are_unfit(text):
    found, unfit = numbers_of(pa.array(["1", text, None]))
    assert found.to_pylist() == [1.0, None, None]
    assert unfit.tolist() == [False, True, False]


@pytest.mark.parametrize("word", [*MISSING_WORDS, *MISSING_SIGNS, " ? "])
def test_missing_words_are_missing(word):
    found, unfit = numbers_of(pa.array(["1", word]))
    second = found[1].as_py()
    assert unfit is None
    assert second is None or math.isnan(second)
