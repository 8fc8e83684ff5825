"""The loader of windows: the law of order, the rows of each rank, and what is in memory."""

from __future__ import annotations

import threading
import time
import weakref
from concurrent.futures import Future
from contextlib import nullcontext
from dataclasses import replace
from functools import partial
from itertools import pairwise
from threading import Barrier, Event

import numpy as np
import pyarrow as pa
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from trainwright_trainer.data.cache import Cache
from trainwright_trainer.data.column_entries import StoredColumn
from trainwright_trainer.data.columnfile import Column
from trainwright_trainer.data.prepared import SPLIT_NAMES, TEST, TRAIN, Columns, Prepared
from trainwright_trainer.errors import EnvironmentFailure
from trainwright_trainer.frames.pandas import reading_with
from trainwright_trainer.loader import windowed
from trainwright_trainer.loader.batch import Batch, ColumnRange, Layout
from trainwright_trainer.loader.cut import Cut
from trainwright_trainer.loader.encoded_rows import encoded_rows
from trainwright_trainer.loader.epoch_order import EpochOrder
from trainwright_trainer.loader.load import loaders, with_windows
from trainwright_trainer.loader.materialised import Materialised
from trainwright_trainer.loader.windowed import Windowed, read_ahead
from trainwright_trainer.runtime.threads import computing_with
from trainwright_trainer.storage.local import FolderStorage

RANGES = {"x": ColumnRange("floats", 0, 1), "c": ColumnRange("ints", 0, 1), "s": ColumnRange("ragged", 0, 1)}
LAYOUT = Layout(RANGES, 1, 1)
GROUP = 262_144


def columns_of(rows: int) -> dict[str, Column]:
    """The value of each column tells its row. Every seventh row is null in one of them."""
    numbers = np.arange(rows)
    offsets = np.concatenate([[0], np.cumsum(numbers % 3)])
    items = np.repeat(numbers, numbers % 3).astype(np.int32)
    return {
        "x": Column(pa.chunked_array([pa.array(numbers.astype(np.float32), mask=numbers % 7 == 3)])),
        "c": Column(pa.chunked_array([pa.array(numbers.astype(np.int32))])),
        "s": Column(pa.chunked_array([pa.LargeListArray.from_arrays(pa.array(offsets), pa.array(items))])),
    }


def prepared_of(rows: int, seed: int = 0) -> Prepared:
    splits = np.random.default_rng(seed).integers(0, 4, rows).astype(np.uint8)
    return Prepared("x", rows, splits, Columns(columns_of(rows)), {}, "", "", False)


def windows(
    prepared: Prepared, window_rows: int, *, seed: int = 3, shuffles: bool = True, part: int = TRAIN
) -> Windowed:
    return Windowed(prepared, part, LAYOUT, torch.float32, EpochOrder(seed, shuffles, window_rows))


def assert_cells_are_those_of_the_rows(batch: Batch) -> None:
    assert np.array_equal(batch.floats[:, 0].numpy(), batch.rows.astype(np.float32))
    assert np.array_equal(batch.ints[:, 0].numpy(), batch.rows)
    column = batch.ragged[0]
    assert np.array_equal(np.diff(column.bounds), batch.rows % 3)
    assert np.array_equal(column.values.numpy(), np.repeat(batch.rows, batch.rows % 3))
    assert np.array_equal(column.offsets.numpy(), column.bounds)


@settings(deadline=None, max_examples=60)
@given(
    rows=st.integers(1, 120),
    seed=st.integers(0, 50),
    window_rows=st.integers(1, 130),
    global_rows=st.integers(1, 50),
    world=st.integers(1, 16),
    shuffles=st.booleans(),
    copied=st.booleans(),
    data=st.data(),
)
def test_any_number_of_ranks_serves_each_row_once_from_any_row(
    rows, seed, window_rows, global_rows, world, shuffles, copied, data
):
    prepared = prepared_of(rows, seed)
    if copied:
        prepared = replace(prepared, copies=np.arange(rows) % 4)
    loader = windows(prepared, window_rows, seed=seed, shuffles=shuffles)
    own = prepared.rows_of(TRAIN)
    expected = own[loader.order.positions(2, own)]
    assert len(loader) == len(own)
    first = data.draw(st.integers(0, max(0, len(own) - 1) // global_rows)) * global_rows
    ranks = [list(loader.epoch(2, first, Cut(global_rows, rank, world))) for rank in range(world)]
    served = [np.concatenate([batch.rows for batch in batches]) for batches in zip(*ranks, strict=True)]
    assert [len(one) for one in served] == [
        min(global_rows, len(own) - at) for at in range(first, len(own), global_rows)
    ]
    assert np.array_equal(np.concatenate(served or [own[:0]]), expected[first:])
    for batches in ranks:
        for batch in batches:
            assert_cells_are_those_of_the_rows(batch)


def test_the_order_is_the_one_of_rows_in_memory():
    prepared, order = prepared_of(5000), EpochOrder(1, True, 700)
    parts = loaders(prepared, LAYOUT, torch.float32, order)
    assert all(isinstance(part, Windowed) for part in parts.values())
    plain = loaders(prepared, LAYOUT, torch.float32, EpochOrder(1))
    for name in SPLIT_NAMES:
        held = Materialised(plain[name].held, order)
        pairs = zip(parts[name].epoch(4, 0, Cut(64)), held.epoch(4, 0, Cut(64)), strict=True)
        assert all(np.array_equal(one.rows, other.rows) for one, other in pairs)


@pytest.mark.parametrize(("start", "stop"), [(0, None), (3, 40), (190, 9000), (7, 7)])
@pytest.mark.parametrize("window_rows", [1, 13, 5000])
def test_sequential_has_the_order_of_the_source(start, stop, window_rows):
    prepared = prepared_of(1000)
    batches = list(windows(prepared, window_rows, part=TEST).sequential(16, start, stop))
    assert [row for batch in batches for row in batch.rows] == prepared.rows_of(TEST)[start:stop].tolist()
    assert all(len(batch.rows) == 16 for batch in batches[:-1])
    for batch in batches:
        assert_cells_are_those_of_the_rows(batch)


def test_a_part_without_rows_has_no_batches():
    nothing = replace(prepared_of(10), splits=np.zeros(10, np.uint8))
    loader = windows(nothing, 3, part=TEST)
    assert len(loader) == 0
    assert list(loader.sequential(4)) == list(loader.epoch(0, 0, Cut(4))) == []


def test_a_run_keeps_its_windows():
    parts = loaders(prepared_of(100), LAYOUT, torch.float32, EpochOrder(1, True, 7))
    assert {part.order.window_rows for part in with_windows(parts, 9).values()} == {9}
    held = loaders(prepared_of(100), LAYOUT, torch.float32, EpochOrder(1))
    assert with_windows(held, None) == held


@pytest.mark.parametrize("rows", [100, 500, 700])
@pytest.mark.parametrize("rank", [0, 1])
def test_two_windows_are_in_memory_and_only_the_rows_of_the_rank(monkeypatch, rank, rows):
    """Batches that are views of a window, and batches that lie in two. A rank has half of the rows of each.

    Counts the rows of the windows that exist, when the next window has been read.
    """
    alive: dict[int, int] = {}
    sizes: list[int] = []
    count = 20

    def counted(*arguments, cores=None):
        found = encoded_rows(*arguments, cores=cores)
        if not len(found):
            return found
        floats = found.floats.numpy().copy()
        alive[len(sizes)] = len(floats)
        weakref.finalize(floats, alive.pop, len(sizes))
        sizes.append(len(floats))
        return replace(found, floats=torch.from_numpy(floats))

    monkeypatch.setattr(windowed, "encoded_rows", counted)
    prepared = replace(prepared_of(count * 2000), splits=np.zeros(count * 2000, np.uint8))
    most = served = 0
    for batch in windows(prepared, 2000).epoch(0, 0, Cut(rows, rank, 2)):
        assert len(batch.rows) <= (rows + 1) // 2
        served += len(batch.rows)
        begun = 1 + int(np.searchsorted(np.cumsum(sizes), served))
        while len(sizes) < min(begun + 1, count):
            time.sleep(0.001)
        most = max(most, sum(alive.values()))
    assert len(sizes) == count
    assert 0 < most <= 2.2 * 2000 / 2


@pytest.mark.parametrize("keeps", [False, True])
def test_a_batch_in_one_window_is_a_view_unless_the_caller_keeps_the_last_one(keeps):
    loader = windows(prepared_of(400), 100, shuffles=False)
    parts = [encoded_rows(loader.prepared, LAYOUT, torch.float32, loader.prepared.rows_of(TRAIN)[:50]) for _ in "ab"]
    places = [(part.floats.data_ptr(), part.floats.data_ptr() + part.floats.nbytes) for part in parts]
    cut = windowed._cut((part.part(0, 50) for part in parts), [20, 20, 20, 20, 20], parts[0].part(0, 0), keeps=keeps)
    served = list(cut)
    views = [any(low <= batch.floats.data_ptr() < high for low, high in places) for batch in served]
    assert views == [True, not keeps, False, True, False]
    rows = np.concatenate([part.rows for part in parts])
    assert np.array_equal(np.concatenate([batch.rows for batch in served]), rows)


def test_the_next_window_is_read_while_one_is_used():
    began, seen = Event(), []

    def second(_: int | None) -> str:
        began.set()
        return "second"

    for one in read_ahead([lambda _: "first", second, lambda _: "third"], 1):
        seen.append(one)
        assert one != "first" or began.wait(10)
    assert seen == ["first", "second", "third"]


class PoolWithALateRead(nullcontext):
    """A pool whose calls end at once. The second one counts as not done."""

    def __init__(self, *_, **__) -> None:
        super().__init__(self)
        self.calls = 0

    def submit(self, read, cores) -> Future:
        self.calls += 1
        found = Future()
        found.set_result(read(cores))
        found.done = partial(bool, self.calls != 2)
        return found


def test_a_read_has_the_spare_cores_and_all_of_them_after_one_that_was_late(monkeypatch):
    monkeypatch.setattr(windowed, "ThreadPoolExecutor", PoolWithALateRead)
    asked: list[int | None] = []
    assert len(list(read_ahead([asked.append] * 5, 3))) == 5
    assert asked == [None, 3, 3, None, 3]


@pytest.mark.parametrize(("device", "steps", "spare"), [(None, 3, 5), (None, 8, 1), (torch.device("cuda"), 8, 7)])
def test_the_spare_cores_are_those_that_no_step_uses(device, steps, spare):
    loader = replace(windows(prepared_of(10), 3), device=device)
    with reading_with(8), computing_with(steps):
        assert loader._spare_cores == spare


def test_an_error_of_a_read_arrives_where_its_rows_are_due():
    def fails(_: int | None) -> str:
        raise OSError("gone")

    served = read_ahead([lambda _: "first", fails], 1)
    assert next(served) == "first"
    with pytest.raises(OSError, match="gone"):
        next(served)


def test_an_epoch_that_stops_leaves_no_thread():
    batches = windows(prepared_of(1000), 50).epoch(0, 0, Cut(10))
    next(batches)
    assert [thread.name for thread in threading.enumerate() if thread.name.startswith("windows")]
    batches.close()
    assert not [thread.name for thread in threading.enumerate() if thread.name.startswith("windows")]


@pytest.fixture
def stored(tmp_path):
    """Columns in files of the cache, of four row groups."""
    rows, cache = 3 * GROUP + 1000, Cache(FolderStorage(tmp_path, private=True))
    for name, column in columns_of(rows).items():
        cache.write_column("features", name, column)
    cache.finish()
    columns = {name: cache.stored_column("features", name) for name in LAYOUT.columns}
    return Prepared("x", rows, np.zeros(rows, np.uint8), Columns(columns), {}, "", "", False)


def test_a_window_reads_its_row_groups_and_no_column_as_a_whole(stored, monkeypatch):
    loader = windows(stored, GROUP)
    asked = []
    real = StoredColumn.part
    monkeypatch.setattr(StoredColumn, "part", lambda *arguments: asked.append(arguments[1:]) or real(*arguments))
    served = []
    for batch in loader.epoch(0, 0, Cut(50_000)):
        assert_cells_are_those_of_the_rows(batch)
        served.append(batch.rows)
    assert np.array_equal(np.sort(np.concatenate(served)), stored.rows_of(TRAIN))
    assert sorted(asked) == sorted([(at * GROUP, (at + 1) * GROUP) for at in range(4)] * 3)
    assert "values" not in vars(stored.columns._columns["c"])
    assert "_values" not in vars(stored.columns)


def test_rows_cross_the_groups_of_a_file(stored):
    column = stored.columns._columns["c"]
    for start, stop in pairwise([0, 5, GROUP, GROUP + 1, 3 * GROUP - 1, 3 * GROUP + 1000]):
        assert np.array_equal(column.part(start, stop).to_numpy(), np.arange(start, stop))
    assert column.part(3 * GROUP, 9 * GROUP).length() == 1000


@pytest.fixture
def read_together(monkeypatch):
    """A read of a column waits until three are under way."""
    together, real = Barrier(3, timeout=30), StoredColumn.part
    monkeypatch.setattr(StoredColumn, "part", lambda *arguments: together.wait() >= 0 and real(*arguments))


@pytest.mark.usefixtures("read_together")
def test_the_columns_of_a_file_are_read_by_all_cores(stored):
    found = stored.parts_of(list(LAYOUT.columns), 5, GROUP + 5, 3)
    assert list(found) == list(LAYOUT.columns)
    assert np.array_equal(found["c"].to_numpy(), np.arange(5, GROUP + 5))


@pytest.mark.usefixtures("read_together")
def test_a_store_is_asked_for_several_columns_at_once(stored, monkeypatch):
    monkeypatch.setattr(FolderStorage, "is_remote", True)
    assert list(stored.parts_of(list(LAYOUT.columns), 0, 5, 1)) == list(LAYOUT.columns)


def test_a_damaged_column_among_others_is_named(stored, tmp_path):
    path = tmp_path / "features" / "c.parquet"
    path.write_bytes(path.read_bytes().replace(np.arange(7, 15, dtype=np.int32).tobytes(), bytes(32)))
    with pytest.raises(EnvironmentFailure, match="is damaged"):
        stored.parts_of(list(LAYOUT.columns), 0, 5, 3)
