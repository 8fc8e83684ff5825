from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pyarrow as pa
import pytest
import torch

from trainwright_trainer.data.order import epoch_order
from trainwright_trainer.data.prepared import Prepared
from trainwright_trainer.loader.batch import ColumnRange, Layout
from trainwright_trainer.loader.cut import Cut
from trainwright_trainer.loader.materialised import epoch_batches, epoch_positions, everything, materialise, sizes

ROWS = 150_000  # more than two blocks of `_FILL_ROWS`
LAYOUT = Layout(
    {
        "number": ColumnRange("floats", 0, 1),
        "vector": ColumnRange("floats", 1, 3),
        "category": ColumnRange("ints", 0, 1),
        "date": ColumnRange("ints", 1, 10),
    },
    3,
    10,
)


def chunked(array: pa.Array, cuts: list[int]) -> pa.ChunkedArray:
    """The same values in chunks that are cut at `cuts`: some are slices with an offset."""
    bounds = [0, *cuts, len(array)]
    return pa.chunked_array([array.slice(a, b - a) for a, b in pairwise(bounds)])


def lists(values: np.ndarray) -> pa.FixedSizeListArray:
    return pa.FixedSizeListArray.from_arrays(pa.array(values.reshape(-1)), values.shape[1])


@pytest.fixture(scope="module")
def prepared() -> Prepared:
    draws = np.random.default_rng(0)
    number = draws.normal(size=ROWS).astype("float32")
    category = draws.integers(0, 9, ROWS).astype("int32")
    columns = {
        "number": chunked(pa.array(number, mask=np.arange(ROWS) % 7 == 3), [10, 65_536, 131_000]),
        "vector": chunked(lists(draws.normal(size=(ROWS, 2)).astype("float32")), [65_536]),
        "category": chunked(pa.array(category, mask=np.arange(ROWS) % 11 == 5), [70_001]),
        "date": chunked(lists(draws.integers(0, 60, (ROWS, 9)).astype("int32")), [3, 4, 100_000]),
    }
    return Prepared("x", ROWS, draws.integers(0, 4, ROWS).astype(np.uint8), columns, {}, "", "", False)


def test_every_valid_row_of_a_part_is_there_in_source_order(prepared):
    rows = np.arange(ROWS)
    valid = (rows % 7 != 3) & (rows % 11 != 5)
    table = {name: column.to_pylist() for name, column in prepared.columns.items()}
    for code, (_, split) in enumerate(materialise(prepared, LAYOUT, torch.float32).items()):
        assert np.array_equal(split.rows, rows[valid & (prepared.splits == code)])
        for at in (0, 1, len(split) // 2, len(split) - 1):
            row = split.rows[at]
            assert split.floats[at].tolist() == pytest.approx([table["number"][row], *table["vector"][row]])
            assert split.ints[at].tolist() == [table["category"][row], *table["date"][row]]


def test_all_cells_are_those_of_arrow(prepared):
    split = everything(prepared, LAYOUT, torch.float64)
    number = prepared.columns["number"].to_numpy()[split.rows]
    assert split.floats.dtype == torch.float64
    assert np.array_equal(split.floats[:, 0].numpy(), number.astype("float64"))
    vector = prepared.columns["vector"].combine_chunks().values.to_numpy().reshape(-1, 2)[split.rows]
    assert np.array_equal(split.floats[:, 1:].numpy(), vector.astype("float64"))


def test_an_empty_part_is_empty(prepared):
    nothing = Prepared("x", ROWS, np.zeros(ROWS, np.uint8), prepared.columns, {}, "", "", False)
    assert sizes(materialise(nothing, LAYOUT, torch.float32))["test"] == 0


def test_positions_are_the_law_of_order(prepared):
    split = materialise(prepared, LAYOUT, torch.float32)["train"]
    for epoch in (0, 1, 5):
        assert np.array_equal(split.rows[epoch_positions(split, 3, epoch)], epoch_order(3, epoch, split.rows))


def test_a_row_of_the_training_part_is_there_once_for_each_copy(prepared):
    copies = np.arange(ROWS) % 3
    found = materialise(replace(prepared, copies=copies), LAYOUT, torch.float32)
    plain = materialise(prepared, LAYOUT, torch.float32)
    rows, at = plain["train"].rows, np.repeat(np.arange(len(plain["train"])), copies[plain["train"].rows])
    assert np.array_equal(found["train"].rows, rows[at])
    assert torch.equal(found["train"].floats, plain["train"].floats[at])
    assert torch.equal(found["train"].ints, plain["train"].ints[at])
    assert all(np.array_equal(found[name].rows, plain[name].rows) for name in ("validation", "test"))


@pytest.mark.parametrize("world", range(1, 17))
def test_any_number_of_ranks_serves_each_copy_once_from_any_row(prepared, world):
    split = materialise(replace(prepared, copies=np.arange(ROWS) % 4), LAYOUT, torch.float32)["train"]
    small = type(split)(split.floats[:1111], split.ints[:1111], split.rows[:1111])
    positions = epoch_positions(small, 5, 2)
    for first in (0, 300, 1100):
        ranks = [list(epoch_batches(small, positions, Cut(50, rank, world), first)) for rank in range(world)]
        served = np.concatenate([batch.rows for batches in zip(*ranks, strict=True) for batch in batches])
        assert np.array_equal(served, small.rows[positions][first:])
    assert np.array_equal(np.sort(small.rows[positions]), small.rows)


@pytest.mark.parametrize("shuffled", [True, False])
@pytest.mark.parametrize("global_rows", [1, 100, 1024, 40_000])
@pytest.mark.parametrize("world", [1, 3])
def test_batches_hold_every_row_once_whatever_the_cut(prepared, shuffled, global_rows, world):
    split = materialise(prepared, LAYOUT, torch.float32)["test"]
    small = type(split)(split.floats[:2500], split.ints[:2500], split.rows[:2500])
    positions = epoch_positions(small, 1, 0) if shuffled else None
    expected = small.rows if positions is None else small.rows[positions]
    ranks = [list(epoch_batches(small, positions, Cut(global_rows, rank, world))) for rank in range(world)]
    joined = [np.concatenate([batch.rows for batch in batches]) for batches in zip(*ranks, strict=True)]
    assert [len(rows) for rows in joined] == [min(global_rows, 2500 - at) for at in range(0, 2500, global_rows)]
    assert np.array_equal(np.concatenate(joined), expected)
    for batch in ranks[0][:3]:
        at = np.searchsorted(small.rows, batch.rows)
        assert torch.equal(batch.floats, small.floats[at])
        assert torch.equal(batch.ints, small.ints[at])


def test_an_epoch_goes_on_from_any_row(prepared):
    split = materialise(prepared, LAYOUT, torch.float32)["validation"]
    positions = epoch_positions(split, 1, 0)
    whole = [batch.rows.tolist() for batch in epoch_batches(split, positions, Cut(1000))]
    rest = [batch.rows.tolist() for batch in epoch_batches(split, positions, Cut(1000), 7000)]
    assert rest == whole[7:]
    assert list(epoch_batches(split, positions, Cut(1000), len(split))) == []
