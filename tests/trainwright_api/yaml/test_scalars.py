"""The core schema of YAML 1.2."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trainwright_api.yaml.scalars import is_boolean_elsewhere, joined, resolve


@given(st.integers(-(2**63) + 1, 2**63 - 1))
def test_a_whole_number_is_read_as_it_is_written(number: int) -> None:
    assert resolve(str(number)) == number


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_a_fraction_is_read_as_it_is_written(number: float) -> None:
    assert resolve(repr(number)) == number


@pytest.mark.parametrize("word", ["1_000", "1e", ".", "-", "+", "0b1", "1.2.3", "NULL ", "tRUE", "0x", "1:30", "e5"])
def test_all_else_is_a_text(word: str) -> None:
    assert resolve(word) == word


@pytest.mark.parametrize("word", [".nan", ".Inf", "-.INF", str(2**63), "9" * 9999, "0x" + "f" * 99, "1e400"])
def test_what_cannot_be_used_as_a_number_is_refused(word: str) -> None:
    with pytest.raises(ValueError, match=r"is no finite number|is too large"):
        resolve(word)


@pytest.mark.parametrize(
    ("word", "is_one"), [("y", True), ("OFF", True), ("true", False), ("maybe", False), ("nO", False)]
)
def test_the_booleans_of_yaml_1_1_are_known(word: str, is_one: bool) -> None:
    assert is_boolean_elsewhere(word) is is_one


@given(st.text())
def test_whole_characters_stay_as_they_are(text: str) -> None:
    assert joined(text) == text
