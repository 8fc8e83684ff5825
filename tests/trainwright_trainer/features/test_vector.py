"""Vector features: lists or text of numbers, with one size for each column."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest

from trainwright_api.problems import Mistakes
from trainwright_trainer.features import vector
from trainwright_trainer.features.errors import BadValueError

VALUES = [[1.0, 2.0], None, [3.0, 4.0], [1.0, 2.0], None]


@pytest.mark.parametrize(
    "values",
    [
        [[1.0, 2.0], [3.0, 4.5]],
        ["1 2", " 3.0\t4.5 "],
        pa.array([[1, 2], [3, 4.5]], pa.large_list(pa.float64())),
        pa.array([[1, 2], [3, 4.5]], pa.list_(pa.float32(), 2)),
        pa.array([["1", "2"], ["3", "4.5"]]),
        pa.array(["1 2", "3 4.5"]).dictionary_encode(),
        ["[1, 2]", "[3.0, 4.5]"],
        ["[1.  2. ]", "[3.\n 4.5]"],
        pa.array(["(1, 2)", "(3,4.5)"], pa.large_string()),
        ["1;2", "3 ; 4.5"],
        ["1, 2", "3.0 ,  4.5"],
        ["1 2", "[3, 4.5]"],
        pa.array([b"[1, 2]", b"3 4.5"]),
    ],
)
@pytest.mark.parametrize("block", [1, 100])
def test_all_kinds_of_vectors_are_read(run, values, block):
    found = run("vector", values, block=block)
    assert found.values == [[1.0, 2.0], [3.0, 4.5]]
    assert found.type == pa.list_(pa.float32(), 2)
    assert found.statistics["size"] == 2


@pytest.mark.parametrize("block", [1, 2, 100])
def test_statistics_are_of_the_training_rows_that_are_there(run, block):
    values = [*VALUES, [100.0, 100.0]]
    found = run("vector", values, training=[True] * 5 + [False], block=block).statistics
    expected = np.array([[1, 2], [3, 4], [1, 2]], dtype=float)
    assert np.allclose(found["mean"], expected.mean(axis=0))
    assert np.allclose(found["std"], expected.std(axis=0))
    assert (found["rows"], found["missing"]) == (5, 2)


def test_equal_numbers_of_a_place_have_no_spread(run):
    found = run("vector", [[0.1, 1.0], [0.1, 2.0], [0.1, 4.0]] * 100, block=1000).statistics
    assert (found["mean"][0], found["std"][0]) == (pytest.approx(0.1, rel=1e-6), 0.0)
    assert found["std"][1] > 1


@pytest.mark.parametrize("block", [1, 2, 100])
@pytest.mark.parametrize(
    ("options", "first", "second"),
    [
        ({}, [0, 0], [0, 0]),
        ({"fill_value": "7 8"}, [7, 8], [7, 8]),
        ({"missing_value_strategy": "fill_with_mode"}, [1, 2], [1, 2]),
        ({"missing_value_strategy": "ffill"}, [1, 2], [1, 2]),
        ({"missing_value_strategy": "bfill"}, [3, 4], [1, 2]),
        ({"missing_value_strategy": "drop_row"}, None, None),
    ],
)
def test_missing_values(run, options, first, second, block):
    assert run("vector", VALUES, block=block, **options).values == [[1, 2], first, [3, 4], [1, 2], second]


@pytest.mark.parametrize(("block", "row"), [(1, 3), (2, 3), (100, 3)])
def test_another_size_is_named_with_its_row(run, block, row):
    with pytest.raises(Mistakes, match=rf"column 'x' (has 3 numbers in row {row}|has vectors of 2 and of 3)"):
        run("vector", [[1, 2], [3, 4], [5, 6, 7]], block=block)


def test_another_size_outside_the_training_rows_is_named_too(run):
    with pytest.raises(Mistakes, match="has 3 numbers in row 3, and 2 in the rows before"):
        run("vector", [[1, 2], None, [5, 6, 7]], training=[True, True, False], block=1)


def test_the_wanted_size_acts(run):
    with pytest.raises(Mistakes, match=r"has 2 numbers in row 1, and preprocessing.vector_size is 3"):
        run("vector", [[1, 2]], vector_size=3)
    assert run("vector", [[1, 2]], vector_size=2).values == [[1, 2]]


@pytest.mark.parametrize("values", [["1 2", "1 b"], [[1.0, 2.0], [1.0, None]], [[1.0, 2.0], [float("inf"), 0.0]]])
def test_what_is_no_vector_is_named_or_dropped(run, values):
    with pytest.raises(Mistakes, match="in row 2, which is no vector of numbers"):
        run("vector", values)
    found = run("vector", values, missing_value_strategy="drop_row")
    assert found.values == [[1.0, 2.0], None]
    assert "values that are no vector: 1" in found.notices[0]


@pytest.mark.parametrize(
    ("values", "options", "line"),
    [
        ([1.5, 2.5], {}, "holds numbers, the feature is a vector"),
        ([[{"a": 1}]], {}, "holds lists of"),
        (pa.nulls(2), {}, "has no vector in any training row"),
        ([[1, 2]], {"fill_value": "1 2 3"}, "has vectors of 2 numbers, and preprocessing.fill_value has 3"),
    ],
)
def test_what_cannot_be_read_is_reported(run, values, options, line):
    with pytest.raises(Mistakes, match=f"column 'x' {line}"):
        run("vector", values, **options)


def test_the_report_reads_facts(run):
    found = run("vector", VALUES).statistics
    assert vector.facts(found) == {"size": "2", "mean": "2.16667", "std": "0.942809", "missing": "40 %"}
    assert vector.distribution(found) is None


def test_an_empty_vector_is_missing(run):
    assert run("vector", [[1.0, 2.0], [], None]).values == [[1.0, 2.0], [0.0, 0.0], [0.0, 0.0]]
    assert run("vector", ["1 2", "", " "]).statistics["missing"] == 2


@pytest.mark.parametrize(
    "text",
    ["1,5 2,5", "1,5", "1,2,3", "[1,5 2,5]", "[1,5; 2,5]", "[1,5, 2,5]", "1;5, 2;5", "1; 2 3", "[1, 2 3]", "[1, 2",
     "1)", "[1, 2)", "[[1, 2]]", "[1, 2] 3", "[1;;2]", ";1", "[1 ... 9]", "[a, b]"],
)  # fmt: skip
@pytest.mark.parametrize("before", ["1 2", "[1, 2]"])
def test_a_text_that_may_mean_something_else_is_refused(run, before, text):
    with pytest.raises(Mistakes) as raised:
        run("vector", [before, text], block=2)
    forms = "in row 2, which is no vector of numbers, as in 1.0 2.5 or [1.0, 2.5]."
    assert f"holds {text!r} {forms}" in str(raised.value)
    assert ("A comma separates numbers only before a space or in brackets" in str(raised.value)) == ("," in text)
    found = run("vector", [before, text], block=2, missing_value_strategy="drop_row")
    assert found.values == [[1.0, 2.0], None]


def test_empty_brackets_are_missing(run):
    found = run("vector", ["[1, 2]", "[]", "( )", "[3, 4]"])
    assert found.values == [[1.0, 2.0], [0.0, 0.0], [0.0, 0.0], [3.0, 4.0]]
    assert found.statistics["missing"] == 2


def test_brackets_may_hold_one_number(run):
    assert run("vector", ["[1]", "(2,)", "[3.5]"]).values == [[1.0], [2.0], [3.5]]


def test_plain_texts_are_not_spelt_again(run, monkeypatch):
    monkeypatch.delattr("trainwright_trainer.features.vector.spelt_plainly")
    assert run("vector", ["1 2", None, "3 4"]).statistics["missing"] == 1


@pytest.mark.parametrize(
    "values",
    [
        ["0.3 0.7", "", "0.5 -0.4"],
        [[0.25, 0.75], None, [1.25, -0.25]],
        [[1.0, 0.0], [0.3, 0.7004], [0.0, 0.0]],
    ],
)
def test_shares_are_not_negative_and_have_the_sum_1(feature, values):
    shares = replace(feature("vector", is_target=True), is_shares=True)
    assert vector.clean(shares, pa.array(values[:2]), 0).unreadable == 0
    with pytest.raises(BadValueError, match="which are no shares") as found:
        vector.clean(shares, pa.array(values), 10)
    assert (found.value.row, found.value.value) == (12, values[2])


def test_a_block_of_nan_is_missing(feature):
    made = feature("vector")
    assert vector.clean(made, pa.array([float("nan")] * 2), 0).values.null_count == 2
