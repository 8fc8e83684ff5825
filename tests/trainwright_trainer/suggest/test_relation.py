"""Columns that know the target."""

from __future__ import annotations

import random

import pyarrow as pa
import pytest

DRAWS = random.Random(5)
CLASSES = [DRAWS.choice("abc") for _ in range(200)]
NUMBERS = [DRAWS.gauss(0, 1) for _ in range(200)]
ABOVE = [one > 0.3 for one in NUMBERS]
COPY = "a copy of the target: each value of one goes with one value of the other"
LINE = "a copy of the target: they lie on a straight line"
THRESHOLD = "the target is a threshold of it"


@pytest.mark.parametrize(
    ("target", "values", "found"),
    [
        pytest.param(CLASSES, [ord(one) for one in CLASSES], COPY, id="codes of the classes"),
        pytest.param(CLASSES, [None, *map(str.upper, CLASSES[1:])], COPY, id="with a gap"),
        pytest.param(CLASSES, ["a" if one == "b" else one for one in CLASSES], "", id="two classes in one"),
        pytest.param(CLASSES, [*CLASSES[1:], CLASSES[0]], "", id="the class of the next row"),
        pytest.param(NUMBERS, [3 - 2 * one for one in NUMBERS], LINE, id="another unit"),
        pytest.param(NUMBERS, [str(one) for one in NUMBERS], LINE, id="the numbers as text"),
        pytest.param(NUMBERS, [one + DRAWS.gauss(0, 0.1) for one in NUMBERS], "", id="a close measure"),
        pytest.param(ABOVE, NUMBERS, THRESHOLD, id="a threshold"),
        pytest.param(ABOVE, [one + DRAWS.gauss(0, 0.5) for one in NUMBERS], "", id="nearly a threshold"),
        pytest.param(ABOVE, [None] * 200, "", id="no value"),
    ],
)  # fmt: skip
@pytest.mark.parametrize("block", [200, 32])
def test_the_relation(profile, monkeypatch, target, values, found, block):
    monkeypatch.setattr("trainwright_trainer.data.rows.BLOCK_ROWS", block)
    assert profile({"x": values}, target).columns["x"].relation.found == found


def test_a_relation_of_few_rows_may_be_chance(profile):
    assert profile({"x": [1, 2] * 9}, ["a", "b"] * 9).columns["x"].relation.found == ""
    assert profile({"x": [1, 2] * 10}, ["a", "b"] * 10).columns["x"].relation.found == COPY


@pytest.mark.parametrize(("given", "copy", "threshold"), [(6, "", ""), (19, "", ""), (20, COPY, THRESHOLD)])
def test_only_the_rows_with_both_values_count(profile, given, copy, threshold):
    target = ["a", "b"] * 100
    codes = [{"a": "1", "b": "x"}[one] if at < given else None for at, one in enumerate(target)]
    numbers = [{"a": 1.0, "b": 3.0}[one] + at / 100 if at < given else None for at, one in enumerate(target)]
    found = profile({"codes": codes, "numbers": numbers}, target).columns
    assert (found["codes"].relation.found, found["numbers"].relation.found) == (copy, threshold)


@pytest.mark.parametrize(("of_a_class", "found"), [(1, ""), (4, ""), (5, THRESHOLD)])
def test_a_threshold_beside_a_few_rows_of_a_class_may_be_chance(profile, of_a_class, found):
    numbers = sorted(NUMBERS)
    assert profile({"x": numbers}, [at < of_a_class for at in range(200)]).columns["x"].relation.found == found


def test_lists_have_no_relation(profile):
    values = pa.array([[1.0, 2.0]] * 200)
    assert profile({"x": values}, CLASSES).columns["x"].relation.found == ""
