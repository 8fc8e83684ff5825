"""The split `datetime`: the published vectors, exact borders, and values that are no dates."""

from __future__ import annotations

import json
from datetime import date, datetime
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from trainwright_trainer.data.chronology import borders, parts_by_time, seconds_of
from trainwright_trainer.features.errors import BadValueError, WrongTypeError

VECTORS = json.loads(Path(__file__).with_name("vectors.json").read_text(encoding="utf-8"))
USUAL = (0.7, 0.1, 0.2)
SHARES = st.sampled_from([USUAL, (0.5, 0.5, 0.0), (0.2, 0.3, 0.5), (1.0, 0.0, 0.0), (0.34, 0.0, 0.66)])
TIMES = st.one_of(st.integers(0, 5), st.integers(2**20 - 3, 2**20 + 3), st.integers(0, 2**40 - 1))


def split(blocks, probabilities=USUAL):
    found = [np.array(block, dtype=np.int64) for block in blocks]
    return np.concatenate(list(parts_by_time(found, borders(lambda: found, probabilities)))).tolist()


@pytest.mark.parametrize("case", VECTORS["datetime_split"])
def test_parts_are_as_published(case):
    times = seconds_of(pa.array(case["seconds"], pa.timestamp("s")), 0, None)
    assert split([times], case["probabilities"]) == case["parts"]


@given(st.lists(TIMES, min_size=1, max_size=120), st.integers(0, 120), SHARES)
def test_the_oldest_rows_train_and_each_part_is_exact(times, cut, probabilities):
    parts = split([times[:cut], times[cut:]], probabilities)
    order = sorted(range(len(times)), key=lambda row: (times[row], row))
    assert [parts[row] for row in order] == sorted(parts)
    for part, probability in enumerate(probabilities):
        assert abs(parts.count(part) - probability * len(times)) <= 1
    assert parts.count(0) >= 1


def test_no_rows_have_no_parts():
    assert split([[], []]) == []


@pytest.mark.parametrize(
    ("values", "form"),
    [
        (["2024-01-02", "2024-01-01", "2024-01-03"], None),
        (["02/01/2024", "01/01/2024", "03/01/2024"], "%d/%m/%Y"),
        ([20240102, 20240101, 20240103], "%Y%m%d"),
        ([20240102.0, 20240101.0, 20240103.0], None),
        ([date(2024, 1, 2), date(2024, 1, 1), date(2024, 1, 3)], None),
        ([datetime(2024, 1, 2), datetime(2024, 1, 1), datetime(2024, 1, 3)], None),
        (pa.array(["2024-01-02", "2024-01-01", "2024-01-03"]).dictionary_encode(), None),
    ],
    ids=["text", "format", "numbers", "floats", "dates", "times", "dictionary"],
)
def test_dates_of_any_kind_are_read(values, form):
    found = seconds_of(values if isinstance(values, pa.Array) else pa.array(values), 0, form)
    assert (found - found[1]).tolist() == [86_400, 0, 2 * 86_400]


@pytest.mark.parametrize(
    ("values", "row", "value"),
    [
        (["2024-01-01", None], 101, None),
        (["soon", "2024-01-01"], 100, "soon"),
        (pa.array([0, 2**40], pa.timestamp("s")), 101, "<value out of range: 1099511627776>"),
        (pa.array([0, -(2**36)], pa.timestamp("s")), 101, "-0208-05-13 16:27:44"),
    ],
    ids=["missing", "text", "too new", "too old"],
)
def test_the_first_value_that_is_no_date_is_named(values, row, value):
    with pytest.raises(BadValueError, match="a datetime split needs one in every row") as found:
        seconds_of(values if isinstance(values, pa.Array) else pa.array(values), 100, None)
    assert (found.value.row, found.value.value) == (row, value)


def test_the_expected_form_is_named():
    with pytest.raises(BadValueError) as found:
        seconds_of(pa.array(["2024"]), 0, "{%Y}")
    assert found.value.message.format(row=1, value="'2024'").startswith(
        "holds '2024' in row 1, which is no date of the form {%Y};"
    )


def test_numbers_are_no_dates_and_whole_numbers_are_read_as_their_digits():
    with pytest.raises(WrongTypeError, match="holds numbers, which are no dates"):
        seconds_of(pa.array([2024.5]), 0, None)
    numbers, text = pa.array([20240101, 1704067200]), pa.array(["2024-01-01"] * 2)
    assert seconds_of(numbers, 0, None).tolist() == seconds_of(text, 0, None).tolist()
