"""The text of a value: one spelling, independent of its type."""

from __future__ import annotations

from datetime import date, datetime
from decimal import Decimal

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from trainwright_trainer.features.errors import WrongTypeError
from trainwright_trainer.features.texts import dictionary_of, texts_of, without_bytes


@pytest.mark.parametrize(
    ("values", "texts"),
    [
        (pa.array(["a", None]), ["a", None]),
        (pa.array(["a", None], pa.large_string()), ["a", None]),
        (pa.array([-3, None]), ["-3", None]),
        (pa.array([1.0, 2.5, float("nan"), None]), ["1", "2.5", None, None]),
        (pa.array([0.1], pa.float64()), ["0.1"]),
        (pa.array([0.1, 1e-7, 2.0, 16777216.0, None], pa.float32()), ["0.1", "1e-07", "2", "16777216", None]),
        (pa.array(np.array([0.1, np.nan], np.float16)), ["0.1", None]),
        (pa.array([True, False]), ["true", "false"]),
        (pa.array([date(2024, 1, 2)]), ["2024-01-02"]),
        (pa.array([datetime(2024, 1, 2, 3, 4, 5)], pa.timestamp("s")), ["2024-01-02 03:04:05"]),
        (pa.array([Decimal("1.50"), Decimal("100.00"), Decimal("-0.01"), None]), ["1.5", "100", "-0.01", None]),
        (pa.array([Decimal("0E-10"), Decimal("1E-10")], pa.decimal128(38, 10)), ["0", "0.0000000001"]),
        (pa.array([Decimal("9" * 36 + ".10")]), ["9" * 36 + ".1"]),
    ],
)
def test_texts(values, texts):
    assert texts_of(values).to_pylist() == texts
    coded = dictionary_of(values)
    assert coded.dictionary_decode().to_pylist() == texts
    assert coded.dictionary.null_count == 0


@given(st.lists(st.one_of(st.none(), st.integers(-(2**53), 2**53))))
def test_whole_numbers_read_the_same_as_floats(numbers):
    whole, floats = pa.array(numbers, pa.int64()), pa.array(numbers, pa.float64())
    assert texts_of(whole).to_pylist() == texts_of(floats).to_pylist()


@pytest.mark.parametrize("unit", ["s", "ms", "us", "ns"])
@pytest.mark.parametrize(("zone", "end"), [(None, ""), ("UTC", "Z"), ("+02:00", "+0200")])
def test_a_time_has_one_text_in_all_units(unit, zone, end):
    moments = [1_700_000_000_000, 1_700_000_000_500][: 1 if unit == "s" else 2]
    at = "2023-11-14 22:13:20" if zone != "+02:00" else "2023-11-15 00:13:20"
    times = pa.array(moments, pa.timestamp("ms", zone)).cast(pa.timestamp(unit, zone))
    assert texts_of(times).to_pylist() == [f"{at}{end}", f"{at}.5{end}"][: len(moments)]


def test_lists_have_no_text():
    with pytest.raises(WrongTypeError, match="holds lists"):
        dictionary_of(pa.array([[1]]))


@pytest.mark.parametrize("kind", [pa.binary(), pa.large_binary(), pa.binary_view(), pa.binary(2)])
def test_bytes_are_text(kind):
    values = pa.array(["é".encode(), None, b"ab"], kind)
    assert without_bytes(values).to_pylist() == ["é", None, "ab"]
    assert without_bytes(values.dictionary_encode()).to_pylist() == ["é", None, "ab"]


@pytest.mark.parametrize("kind", [pa.list_(pa.binary()), pa.large_list(pa.binary()), pa.list_(pa.binary(), 2)])
def test_bytes_in_lists_are_text(kind):
    assert without_bytes(pa.array([[b"a", None], None], kind)).to_pylist() == [["a", None], None]


@pytest.mark.parametrize(
    "values", [pa.array(["a"]), pa.array([1]), pa.array([["a"]]), pa.array(["a"]).dictionary_encode()]
)
def test_a_column_without_bytes_stays_as_it_is(values):
    assert without_bytes(values) is values


def test_bytes_that_are_no_text_are_one_line():
    with pytest.raises(WrongTypeError, match=r"holds bytes that are no text in UTF-8\. Write the column as text\."):
        without_bytes(pa.array([b"a", b"\xff"]))
