"""The split of rows, compared with the published vectors and its documented properties."""

from __future__ import annotations

import json
from decimal import Decimal
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from trainwright_trainer.data.split import divided, fixed_parts, hash_parts, random_parts, sampled, thresholds
from trainwright_trainer.features.errors import BadValueError

VECTORS = json.loads(Path(__file__).with_name("vectors.json").read_text(encoding="utf-8"))
USUAL = (0.7, 0.1, 0.2)


@pytest.mark.parametrize("case", VECTORS["random_split"])
def test_random_parts_are_as_published(case):
    assert random_parts(case["seed"], np.array(case["rows"]), case["probabilities"]).tolist() == case["parts"]


@pytest.mark.parametrize("case", VECTORS["hash_split"])
def test_hash_parts_are_as_published(case):
    assert hash_parts(pa.array(case["texts"]), case["probabilities"]).tolist() == case["parts"]


@pytest.mark.parametrize("case", VECTORS["sample"])
def test_samples_are_as_published(case):
    kept = sampled(case["seed"], case["rows"], case["ratio"], case["size"])
    assert np.flatnonzero(kept).tolist() == case["kept"]


@given(st.integers(0, 2**32), st.integers(1, 300), st.integers(1, 300))
def test_a_rows_part_never_depends_on_how_many_rows_there_are(seed, few, more):
    whole = random_parts(seed, np.arange(few + more), USUAL)
    assert random_parts(seed, np.arange(few), USUAL).tolist() == whole[:few].tolist()


@given(st.integers(0, 2**32), st.integers(1, 300), st.floats(0.01, 0.99))
def test_a_row_that_a_ratio_keeps_is_kept_however_many_rows_there_are(seed, few, ratio):
    whole = sampled(seed, 600, ratio, None)
    assert sampled(seed, few, ratio, None).tolist() == whole[:few].tolist()


@given(st.integers(0, 2**32), st.integers(1, 50))
def test_a_larger_sample_holds_the_smaller_one(seed, size):
    small, large = sampled(seed, 100, 1.0, size), sampled(seed, 100, 1.0, size + 1)
    assert np.count_nonzero(small) == size
    assert not np.any(small & ~large)


def test_parts_are_about_as_large_as_asked():
    counts = np.bincount(random_parts(42, np.arange(100_000), USUAL)) / 100_000
    assert np.allclose(counts, USUAL, atol=0.005)


def test_the_last_part_above_zero_takes_the_rest():
    assert thresholds((0.6, 0.3999999999, 0.0)) == [int(0.6 * 2**32), 2**32, 2**32]
    assert thresholds((1.0, 0.0, 0.0)) == [2**32] * 3
    assert 2 not in random_parts(0, np.arange(10_000), (0.5, 0.5, 0.0))


@pytest.mark.parametrize(
    ("rows", "offset", "ends"),
    [
        (0, 0, (0, 0)),
        (1, 0, (1, 1)),
        (2, 0, (1, 1)),
        (2, 2**32 - 1, (2, 2)),
        (10, 2**31, (7, 8)),
        (1000, 2**31, (700, 800)),
        (10**12, 2**31, (699_999_999_953, 799_999_999_814)),
    ],
)
def test_rows_are_divided_in_whole_numbers(rows, offset, ends):
    assert divided(rows, thresholds(USUAL), offset) == ends


def test_equal_values_share_a_part_whatever_their_type():
    probabilities = (0.3, 0.3, 0.4)
    as_text = hash_parts(pa.array(["1", "20", None, "1"]), probabilities)
    assert hash_parts(pa.array([1, 20, None, 1]), probabilities).tolist() == as_text.tolist()
    assert hash_parts(pa.array([1.0, 20.0, None, 1.0]), probabilities).tolist() == as_text.tolist()


@pytest.mark.parametrize(
    "values",
    [
        [0, 1, 2, 0],
        [0.0, 1.0, 2.0, 0.0],
        [Decimal("0.00"), Decimal("1.00"), Decimal("2.00"), Decimal("0.00")],
        ["0", "1", "2", "0"],
        ["0.0", "1.0", " 2.00", "0."],
        ["train", "Validation", " test ", "train"],
    ],
)
def test_a_fixed_split_reads_numbers_and_words(values):
    assert fixed_parts(pa.array(values), 0).tolist() == [0, 1, 2, 0]


@pytest.mark.parametrize(("values", "row", "value"), [([0, 1, 3], 102, 3), (["train", None], 101, None)])
def test_a_fixed_split_names_the_row_that_it_cannot_read(values, row, value):
    with pytest.raises(BadValueError) as found:
        fixed_parts(pa.array(values), 100)
    assert (found.value.row, found.value.value) == (row, value)
