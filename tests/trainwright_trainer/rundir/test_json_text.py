"""The JSON of the run folder: the values that it restores exactly, and the values that it refuses."""

from __future__ import annotations

import json
import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trainwright_trainer.rundir import json_text

plain = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)


@given(plain)
def test_what_was_written_exactly_comes_back_exactly(value: Any) -> None:
    assert json_text.parse(json_text.exact(value)) == value


@pytest.mark.parametrize("value", [{"$float": "nan"}, {"$float": None}, {"$$float": 1}, {"$float": 1, "b": 2}])
def test_an_object_that_looks_like_the_mark_of_a_float_comes_back_as_it_was(value: Any) -> None:
    assert json_text.parse(json_text.exact([value])) == [value]
    assert json_text.parse(json_text.for_people([value])) == [value]


def test_nan_comes_back_as_nan() -> None:
    assert math.isnan(json_text.parse(json_text.exact({"best": math.nan}))["best"])


def test_an_integer_beyond_a_double_keeps_all_its_digits() -> None:
    assert json_text.parse(json_text.exact([2**64 - 1])) == [2**64 - 1]


def test_people_see_null_where_json_has_no_number() -> None:
    assert json.loads(json_text.for_people({"loss": math.inf, "seen": (1, 2)})) == {"loss": None, "seen": [1, 2]}


@pytest.mark.parametrize("value", [{1: "one"}, {"object": object()}, {"set": {1}}])
def test_what_is_not_plain_json_is_refused_rather_than_changed(value: Any) -> None:
    with pytest.raises(TypeError):
        json_text.exact(value)


def test_a_sealed_file_is_json_that_any_reader_can_open() -> None:
    sealed = json.loads(json_text.seal({"a": 1}))
    assert sealed["body"] == {"a": 1}
    assert len(sealed["sha256"]) == 64


def test_every_flipped_bit_of_a_sealed_file_is_found() -> None:
    data = json_text.seal({"epoch": 3, "name": "ä"})
    assert json_text.unseal(data) == {"epoch": 3, "name": "ä"}
    for position in range(len(data)):
        flipped = data[:position] + bytes([data[position] ^ 1]) + data[position + 1 :]
        with pytest.raises(json_text.BrokenSeal):
            json_text.unseal(flipped)


def test_every_truncation_of_a_sealed_file_is_found() -> None:
    data = json_text.seal({"epoch": 3})
    for length in range(len(data)):
        with pytest.raises(json_text.BrokenSeal):
            json_text.unseal(data[:length])
