from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pyarrow as pa
import pytest
import torch

from trainwright_trainer.data.columnfile import Column
from trainwright_trainer.data.prepared import TRAIN, Columns, Prepared
from trainwright_trainer.loader.batch import ColumnRange, Layout, Ragged
from trainwright_trainer.loader.cut import Cut
from trainwright_trainer.loader.encoded_rows import EncodedRows, encoded_rows
from trainwright_trainer.loader.epoch_order import EpochOrder, epoch_order
from trainwright_trainer.loader.load import loaders, part_rows, sizes
from trainwright_trainer.loader.materialised import Materialised

ROWS = 150_000  # more than two blocks of `encoded_rows`
LAYOUT = Layout(
    {
        "number": ColumnRange("floats", 0, 1),
        "vector": ColumnRange("floats", 1, 3),
        "category": ColumnRange("ints", 0, 1),
        "date": ColumnRange("ints", 1, 10),
        "set": ColumnRange("ragged", 0, 1),
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


def sets(draws: np.random.Generator) -> pa.LargeListArray:
    """Up to three numbers in each row; some rows are null, with values that are never read."""
    offsets = np.concatenate([[0], np.cumsum(draws.integers(0, 4, ROWS))])
    values = pa.array(draws.integers(0, 9, offsets[-1]).astype("int32"))
    return pa.LargeListArray.from_arrays(pa.array(offsets), values, mask=pa.array(np.arange(ROWS) % 13 == 1))


@pytest.fixture(scope="module")
def prepared() -> Prepared:
    draws = np.random.default_rng(0)
    number = draws.normal(size=ROWS).astype("float32")
    category = draws.integers(0, 9, ROWS).astype("int32")
    columns = {
        "number": chunked(pa.array(number, mask=np.arange(ROWS) % 7 == 3), [10, 65_536, 131_000]),
        "vector": chunked(lists(draws.normal(size=(ROWS, 2)).astype("float32")), [65_536]),
        "category": chunked(pa.array(category, mask=np.arange(ROWS) % 11 == 5), [70_001]),
        "set": chunked(sets(draws), [65_000, 65_001]),
        "date": chunked(lists(draws.integers(0, 60, (ROWS, 9)).astype("int32")), [3, 4, 100_000]),
    }
    held = Columns({name: Column(values) for name, values in columns.items()})
    return Prepared("x", ROWS, draws.integers(0, 4, ROWS).astype(np.uint8), held, {}, "", "", False)


ORDER = EpochOrder(1)


def lists_of(column: Ragged) -> list[list[int]]:
    return [column.values[a:b].tolist() for a, b in pairwise(column.offsets.tolist())]


def test_every_valid_row_of_a_part_is_there_in_source_order(prepared):
    rows = np.arange(ROWS)
    valid = (rows % 7 != 3) & (rows % 11 != 5) & (rows % 13 != 1)
    table = {name: column.to_pylist() for name, column in prepared.columns.items()}
    for code, loader in enumerate(loaders(prepared, LAYOUT, torch.float32, ORDER).values()):
        whole = next(loader.sequential(ROWS))
        assert np.array_equal(whole.rows, rows[valid & (prepared.splits == code)])
        for at in (0, 1, len(loader) // 2, len(loader) - 1):
            row, one = whole.rows[at], whole.part(slice(at, at + 1))
            assert one.floats[0].tolist() == pytest.approx([table["number"][row], *table["vector"][row]])
            assert one.ints[0].tolist() == [table["category"][row], *table["date"][row]]
            assert lists_of(one.ragged[0]) == [table["set"][row]]


def everything(prepared: Prepared) -> EncodedRows:
    return encoded_rows(prepared, LAYOUT, torch.float64, np.flatnonzero(prepared.valid))


def test_all_cells_are_those_of_arrow(prepared):
    whole = everything(prepared)
    number = prepared.columns["number"].to_numpy()[whole.rows]
    assert whole.floats.dtype == torch.float64
    assert np.array_equal(whole.floats[:, 0].numpy(), number.astype("float64"))
    vector = prepared.columns["vector"].combine_chunks().values.to_numpy().reshape(-1, 2)[whole.rows]
    assert np.array_equal(whole.floats[:, 1:].numpy(), vector.astype("float64"))
    assert whole.ragged[0].to_pylist() == prepared.columns["set"].take(pa.array(whole.rows)).to_pylist()


def test_an_empty_part_is_empty(prepared):
    nothing = Prepared("x", ROWS, np.zeros(ROWS, np.uint8), prepared.columns, {}, "", "", False)
    parts = loaders(nothing, LAYOUT, torch.float32, ORDER)
    assert sizes(parts)["test"] == 0
    assert list(parts["test"].sequential(10)) == list(parts["test"].epoch(0, 0, Cut(10))) == []


def test_a_row_of_the_training_part_is_there_once_for_each_copy(prepared):
    copies = np.arange(ROWS) % 3
    found = loaders(replace(prepared, copies=copies), LAYOUT, torch.float32, ORDER)
    plain = loaders(prepared, LAYOUT, torch.float32, ORDER)
    rows = plain["train"].held.rows
    expected = plain["train"].held.take(np.repeat(np.arange(len(rows)), copies[rows]))
    whole = next(found["train"].sequential(2 * ROWS))
    assert np.array_equal(whole.rows, np.repeat(rows, copies[rows]))
    assert torch.equal(whole.floats, expected.floats)
    assert torch.equal(whole.ints, expected.ints)
    assert lists_of(whole.ragged[0]) == lists_of(expected.ragged[0])
    assert all(np.array_equal(found[name].held.rows, plain[name].held.rows) for name in ("validation", "test"))


@pytest.mark.parametrize("world", range(1, 17))
def test_any_number_of_ranks_serves_each_copy_once_from_any_row(prepared, world):
    copied = part_rows(replace(prepared, copies=np.arange(ROWS) % 4), LAYOUT, torch.float32, TRAIN)
    few = EncodedRows(copied.floats[:1111], copied.ints[:1111], copied.rows[:1111], (copied.ragged[0][:1111],))
    loader = Materialised(few, EpochOrder(5))
    for first in (0, 300, 1100):
        ranks = [list(loader.epoch(2, first, Cut(50, rank, world))) for rank in range(world)]
        served = np.concatenate([batch.rows for batches in zip(*ranks, strict=True) for batch in batches])
        assert np.array_equal(served, epoch_order(5, 2, few.rows)[first:])
    assert np.array_equal(np.sort(epoch_order(5, 2, few.rows)), few.rows)


@pytest.fixture(scope="module")
def some(prepared) -> EncodedRows:
    whole = everything(prepared)
    return EncodedRows(whole.floats[:2500], whole.ints[:2500], whole.rows[:2500], (whole.ragged[0][:2500],))


@pytest.mark.parametrize("shuffles", [True, False])
@pytest.mark.parametrize("global_rows", [1, 100, 1024, 40_000])
@pytest.mark.parametrize("world", [1, 3])
def test_an_epoch_has_the_order_of_the_law_whatever_the_cut(some, shuffles, global_rows, world):
    loader = Materialised(some, EpochOrder(1, shuffles))
    ranks = [list(loader.epoch(5, 0, Cut(global_rows, rank, world))) for rank in range(world)]
    joined = [np.concatenate([batch.rows for batch in batches]) for batches in zip(*ranks, strict=True)]
    assert [len(rows) for rows in joined] == [min(global_rows, 2500 - at) for at in range(0, 2500, global_rows)]
    assert np.array_equal(np.concatenate(joined), epoch_order(1, 5, some.rows) if shuffles else some.rows)
    for batch in ranks[0][:3]:
        at = np.searchsorted(some.rows, batch.rows)
        assert torch.equal(batch.floats, some.floats[at])
        assert torch.equal(batch.ints, some.ints[at])
        assert lists_of(batch.ragged[0]) == some.ragged[0].take(pa.array(at)).to_pylist()


def test_an_epoch_goes_on_from_any_row(some):
    loader = Materialised(some, ORDER)
    whole = [batch.rows.tolist() for batch in loader.epoch(0, 0, Cut(100))]
    assert [batch.rows.tolist() for batch in loader.epoch(0, 700, Cut(100))] == whole[7:]
    assert list(loader.epoch(0, len(some), Cut(100))) == []


@pytest.mark.parametrize(("start", "stop"), [(0, None), (3, 40), (2490, 9000), (7, 7)])
def test_sequential_has_the_order_of_the_source(some, start, stop):
    batches = list(Materialised(some, ORDER).sequential(16, start, stop))
    assert [row for batch in batches for row in batch.rows] == some.rows[start:stop].tolist()
    assert all(len(batch.rows) == 16 for batch in batches[:-1])


@pytest.mark.parametrize(("from_row", "rows"), [(0, 64), (512, 64), (0, 40_000)])
def test_work_ahead_of_a_device_changes_no_batch(prepared, from_row, rows):
    held = part_rows(prepared, LAYOUT, torch.float32, TRAIN)
    plain, beside = Materialised(held, ORDER), Materialised(held, ORDER, ahead=True)
    for epoch in (0, 1, 1, 5):
        wanted = plain.epoch(epoch, from_row, Cut(rows, rank=1, world=3))
        found = beside.epoch(epoch, from_row, Cut(rows, rank=1, world=3))
        for one, other in zip(wanted, found, strict=True):
            assert torch.equal(one.floats, other.floats)
            assert np.array_equal(one.rows, other.rows)


def test_only_a_device_beside_the_cpu_has_a_thread_that_works_ahead(prepared):
    for device, beside in ((None, False), (torch.device("cpu"), False), (torch.device("meta"), True)):
        assert {part.ahead for part in loaders(prepared, LAYOUT, torch.float32, ORDER, device).values()} == {beside}
