"""The permutation of the places of rows, compared with the published vectors and its documented properties."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from trainwright_trainer.data.order import hashes
from trainwright_trainer.data.permutation import permuted

VECTORS = json.loads(Path(__file__).with_name("vectors.json").read_text(encoding="utf-8"))
WORDS = st.integers(0, 2**64 - 1)


def of_one(key, size, numbers):
    count = len(numbers)
    return permuted(np.full(count, key, np.uint64), np.full(count, size, np.uint64), np.asarray(numbers, np.uint64))


@pytest.mark.parametrize("case", VECTORS["permute"])
def test_places_are_as_published(case):
    places = case["places"]
    assert of_one(int(case["key"], 16), case["size"], range(len(places))).tolist() == places


@given(WORDS, st.integers(1, 600))
def test_each_number_has_a_place_of_its_own(key, size):
    assert sorted(of_one(key, size, range(size)).tolist()) == list(range(size))


@given(WORDS, st.sampled_from([2**52, 2**52 - 1, 2**40 + 1, 3**30, 2**31]), st.integers(0, 2**31 - 101))
def test_a_large_permutation_stays_within_its_size(key, size, first):
    places = of_one(key, size, range(first, first + 100)).tolist()
    assert len(set(places)) == 100
    assert max(places) < size


def test_permutations_under_several_keys_are_computed_together():
    keys, sizes = np.array([1, 2, 1, 2], np.uint64), np.array([5, 90, 5, 90], np.uint64)
    numbers = np.array([0, 3, 4, 89], np.uint64)
    expected = [of_one(k, n, [i]).item() for k, n, i in zip(keys, sizes, numbers, strict=True)]
    assert permuted(keys, sizes, numbers).tolist() == expected


def test_every_place_is_equally_likely():
    """Chi-squared over 20,000 keys. The bound is the 99.99 % quantile for 9 · 9 degrees of freedom, about 134."""
    keys = np.repeat(hashes(7, np.arange(20_000)), 10)
    numbers = np.tile(np.arange(10, dtype=np.uint64), 20_000)
    places = permuted(keys, np.full(len(keys), 10, np.uint64), numbers)
    counts = np.bincount((numbers * np.uint64(10) + places).astype(np.int64), minlength=100)
    assert ((counts - 2000) ** 2 / 2000).sum() < 134
