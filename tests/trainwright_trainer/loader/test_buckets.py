"""Batches of similar lengths, compared with the published vectors; and the padding that they save."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from trainwright_trainer.data.columnfile import Column
from trainwright_trainer.data.prepared import Columns, Prepared
from trainwright_trainer.loader.batch import ColumnRange, Layout
from trainwright_trainer.loader.buckets import bucketed
from trainwright_trainer.loader.cut import Cut
from trainwright_trainer.loader.epoch_order import EpochOrder
from trainwright_trainer.loader.load import loaders

VECTORS = json.loads(Path(__file__).parents[1].joinpath("data/vectors.json").read_text(encoding="utf-8"))
LAYOUT = Layout({"words": ColumnRange("ragged", 0, 1)}, 0, 0)


def prepared(lengths: list[int]) -> Prepared:
    words = pa.array([[1] * length for length in lengths], pa.large_list(pa.int32()))
    columns = Columns({"words": Column(pa.chunked_array([words]))})
    return Prepared("x", len(lengths), np.zeros(len(lengths), np.uint8), columns, {}, "", "", False)


@pytest.mark.parametrize("case", VECTORS["bucket_order"])
@pytest.mark.parametrize("world", [1, 3])
def test_the_order_is_as_published_on_any_number_of_ranks(case, world):
    order = EpochOrder(case["seed"], True, case["window_rows"], 0)
    train = loaders(prepared(case["lengths"]), LAYOUT, torch.float32, order)["train"]
    for first in (0, 2 * case["batch_rows"]):
        cuts = [Cut(case["batch_rows"], rank, world) for rank in range(world)]
        ranks = [list(train.epoch(case["epoch"], first, cut)) for cut in cuts]
        served = [int(row) for batches in zip(*ranks, strict=True) for batch in batches for row in batch.rows]
        assert served == case["order"][first:]


@given(st.integers(0, 9), st.integers(1, 40), st.integers(0, 500), st.integers(0, 700))
def test_each_row_is_there_once_and_a_group_keeps_its_rows(seed, batch, first, rows):
    draws = np.random.default_rng(seed)
    order, lengths = draws.permutation(rows), draws.integers(0, 50, rows)
    found = bucketed(order, lengths, batch, seed, 0, first)
    assert sorted(found) == list(range(rows))
    groups = (first + np.arange(rows)) // (64 * batch)
    for group in np.unique(groups):
        assert set(found[groups == group]) == set(order[groups == group])


def test_little_of_a_batch_is_padding_and_epochs_differ():
    lengths = np.random.default_rng(0).integers(1, 100, 5000)
    order = np.random.default_rng(1).permutation(5000)
    found = [bucketed(order, lengths, 32, 7, epoch) for epoch in (0, 1)]

    def steps(rows: np.ndarray) -> int:
        return sum(32 * int(lengths[rows[start : start + 32]].max()) for start in range(0, 5000, 32))

    assert steps(found[0]) < 1.05 * lengths.sum()
    assert steps(order) > 1.8 * lengths.sum()
    assert not np.array_equal(*found)
    longest = [lengths[found[0][start : start + 32]].max() for start in range(0, 4992, 32)]
    assert abs(np.corrcoef(longest, np.arange(len(longest)))[0, 1]) < 0.3  # short rows do not come first
