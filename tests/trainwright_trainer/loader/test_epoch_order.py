"""The order of an epoch, compared with the published vectors and its documented properties."""

from __future__ import annotations

import json
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from trainwright_trainer.data.order import Purpose, hashes, key
from trainwright_trainer.loader.device_order import positions_by_hash
from trainwright_trainer.loader.epoch_order import EpochOrder, epoch_order, stable_argsort

VECTORS = json.loads(Path(__file__).parents[1].joinpath("data/vectors.json").read_text(encoding="utf-8"))


@pytest.mark.parametrize("case", VECTORS["epoch_order"])
def test_the_order_of_an_epoch_is_as_published(case):
    assert epoch_order(case["seed"], case["epoch"], np.array(case["rows"])).tolist() == case["order"]


@pytest.mark.parametrize("case", VECTORS["window_order"])
def test_the_order_of_windows_is_as_published(case):
    rows = np.array(case["rows"])
    assert epoch_order(case["seed"], case["epoch"], rows, case["window_rows"]).tolist() == case["order"]


@given(st.integers(0, 2**32), st.integers(0, 9), st.sets(st.integers(0, 500)), st.integers(1, 600))
def test_the_order_in_windows_of_a_subset_is_the_subsequence(seed, epoch, subset, window_rows):
    whole = epoch_order(seed, epoch, np.arange(501), window_rows).tolist()
    rows = np.array(sorted(subset), dtype=np.int64)
    assert epoch_order(seed, epoch, rows, window_rows).tolist() == [row for row in whole if row in subset]
    windows = [row // window_rows for row in whole]
    assert sum(one != other for one, other in pairwise(windows)) == len(set(windows)) - 1


def test_one_window_has_the_order_without_windows():
    rows = np.arange(100)
    assert epoch_order(1, 2, rows, 100).tolist() == epoch_order(1, 2, rows).tolist()


def test_without_shuffling_windows_change_nothing():
    assert EpochOrder(1, False, 7).positions(0, np.arange(50)).tolist() == list(range(50))


@given(st.integers(0, 2**32), st.integers(0, 1000), st.sets(st.integers(0, 500)))
def test_the_order_of_a_subset_is_the_subsequence(seed, epoch, subset):
    whole = epoch_order(seed, epoch, np.arange(501))
    rows = np.array(sorted(subset), dtype=np.int64)
    assert epoch_order(seed, epoch, rows).tolist() == [row for row in whole.tolist() if row in subset]


@given(st.integers(0, 2**32), st.integers(0, 9), st.lists(st.integers(0, 12), max_size=40))
def test_each_copy_of_a_row_has_its_own_place(seed, epoch, repeated):
    rows = np.array(sorted(repeated), dtype=np.int64)
    positions = EpochOrder(seed).positions(epoch, rows)
    assert sorted(positions.tolist()) == list(range(len(rows)))
    once = np.unique(rows)
    firsts = [int(row) for row, at in zip(rows[positions], positions, strict=True) if at == np.searchsorted(rows, row)]
    assert firsts == epoch_order(seed, epoch, once).tolist()


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 5), st.sampled_from([0, 1, 59])), max_size=200))
def test_values_with_equal_first_bits_are_sorted_as_whole_values(parts):
    values = np.array([(high << 62) | (low << shift) for high, low, shift in parts], dtype=np.uint64)
    assert stable_argsort(values).tolist() == np.argsort(values, kind="stable").tolist()


def test_many_values_are_sorted():
    values = np.random.default_rng(0).integers(0, 2**24, 100_000, dtype=np.uint64) << np.uint64(40)
    assert np.array_equal(stable_argsort(values), np.argsort(values, kind="stable"))


@given(st.integers(-(2**63), 2**64 - 1), st.lists(st.integers(0, 2**62), max_size=200))
def test_a_gpu_computes_the_same_order(seed, rows):
    own, given = key(seed, Purpose.EPOCH, 3), np.array(rows, dtype=np.int64)
    found = positions_by_hash(own, torch.from_numpy(given)).tolist()
    assert found == stable_argsort(hashes(own, given)).tolist()


def test_copies_of_a_row_lie_apart():
    order = epoch_order(0, 0, np.repeat(np.arange(1000), 4))
    assert np.count_nonzero(order[1:] == order[:-1]) < 12  # about 3 by chance


@given(st.integers(-(2**63), 2**64 - 1), st.integers(0, 2**40))
def test_an_order_holds_every_row_once(seed, first):
    rows = np.arange(first, first + 200)
    assert sorted(epoch_order(seed, 3, rows).tolist()) == rows.tolist()


def test_epochs_seeds_and_purposes_differ():
    rows = np.arange(100)
    orders = {tuple(epoch_order(seed, epoch, rows).tolist()) for seed in (0, 1) for epoch in range(5)}
    assert len(orders) == 10
    assert len({key(0, purpose) for purpose in Purpose}) == len(Purpose)


def test_rows_are_not_changed():
    rows = np.arange(10)
    epoch_order(1, 0, rows)
    assert rows.tolist() == list(range(10))
