"""The rows that the ranks of one machine share, in processes of their own."""

from __future__ import annotations

import time
from datetime import timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
import torch
import torch.distributed as dist
from tests.ranks import on_ranks

from trainwright_trainer.data.columnfile import Column
from trainwright_trainer.data.prepared import Columns, Prepared
from trainwright_trainer.distributed.process_group import ProcessGroup
from trainwright_trainer.distributed.ranks import OneRank
from trainwright_trainer.features.pixels import ImageShape
from trainwright_trainer.loader import node_copy
from trainwright_trainer.loader.batch import ColumnRange, EncodedImages, ImageColumn, Layout
from trainwright_trainer.loader.encoded_rows import EncodedRows
from trainwright_trainer.loader.epoch_order import EpochOrder
from trainwright_trainer.loader.load import loaders
from trainwright_trainer.loader.materialised import Materialised

ROWS = 300
IMAGE = ImageColumn(ImageShape(1, 2, 2, "crop_or_pad", 0))
LAYOUT = Layout(
    {
        "number": ColumnRange("floats", 0, 2),
        "category": ColumnRange("ints", 0, 1),
        "set": ColumnRange("ragged", 0, 1),
        "image": ColumnRange("images", 0, 1),
    },
    2,
    1,
    (IMAGE,),
)


def prepared_of(rows: int, columns: dict[str, pa.Array] | None = None) -> Prepared:
    draws = np.random.default_rng(0)
    own = {
        "number": pa.FixedSizeListArray.from_arrays(pa.array(draws.normal(size=2 * rows)), 2),
        "category": pa.array(draws.integers(0, 9, rows).astype("int32")),
        "set": pa.array([list(range(row % 4)) for row in range(rows)], pa.large_list(pa.int32())),
        "image": pa.array([bytes([row % 256]) * (row % 5) for row in range(rows)], pa.large_binary()),
    }
    held = Columns({name: Column(pa.chunked_array([values])) for name, values in (columns or own).items()})
    return Prepared("x", rows, draws.integers(0, 3, rows).astype(np.uint8), held, {}, "", "", False)


def content(rows: EncodedRows) -> list[Any]:
    columns = [*rows.ragged, *(column.contents for column in rows.images)]
    return [rows.floats.tolist(), rows.ints.tolist(), rows.rows.tolist(), *(column.to_pylist() for column in columns)]


def held(prepared: Prepared, ranks: Any) -> list[EncodedRows]:
    parts = loaders(prepared, LAYOUT, torch.float64, EpochOrder(1), None, ranks).values()
    inner = [getattr(part, "inner", part) for part in parts]
    assert all(isinstance(part, Materialised) for part in inner)
    return [part.held for part in inner]


def shared(rows: int, lonely: bool) -> tuple[list[list[Any]], list[list[Any]], bool]:
    """The rows of this rank, then those when the other one has changed its own; True if it maps memory."""
    ranks = ProcessGroup()
    if lonely:  # as on two machines, or with processes that do not see each other
        node_copy._machine = lambda rank: (str(rank),)
    # Rank 1 could not read its columns.
    columns = {name: pa.nulls(rows) for name in LAYOUT.columns} if ranks.rank and not lonely else None
    found = held(prepared_of(rows, columns), ranks)
    before = [content(part) for part in found]
    if ranks.rank == 0:
        for part in found:
            part.floats.fill_(-1.0)
    ranks.share(None)
    maps = Path("/proc/self/maps").read_text()
    return before, [content(part) for part in found], "memfd:trainwright-rows" in maps


@pytest.mark.parametrize("rows", [0, 1, ROWS])
def test_the_second_rank_of_a_machine_reads_no_column(rows: int) -> None:
    wanted = [content(part) for part in held(prepared_of(rows), OneRank())]
    (first, _, maps), (second, after, also_maps) = on_ranks(2, shared, rows, False)
    assert first == second == wanted
    assert after == second
    assert maps
    assert also_maps


def test_ranks_on_different_machines_hold_their_own_rows() -> None:
    wanted = [content(part) for part in held(prepared_of(ROWS), OneRank())]
    (first, _, maps), (second, _, also_maps) = on_ranks(2, shared, ROWS, True)
    assert first == second == wanted
    assert not maps
    assert not also_maps


def read_slowly(place: str) -> int:
    """The rows of this rank, in a group whose collectives wait for 3 seconds."""
    rank, world = dist.get_rank(), dist.get_world_size()
    dist.barrier()
    dist.destroy_process_group()
    dist.init_process_group("gloo", place, timedelta(seconds=3), world, rank)

    def fill(empty: Any) -> list[EncodedRows]:
        time.sleep(5)
        return [
            _in(EncodedRows(torch.zeros(7, 2), torch.zeros((7, 1), dtype=torch.int64), np.arange(7), (), ()), empty)
        ]

    [rows] = node_copy.rows_of_node(fill, Layout({}, 2, 1, ()), ProcessGroup())
    return len(rows.rows)


def test_the_ranks_wait_for_a_long_read(tmp_path: Path) -> None:
    assert on_ranks(2, read_slowly, f"file://{tmp_path}/store") == [7, 7]


def test_memory_that_may_not_be_opened_is_no_copy() -> None:
    copy = node_copy.Copy(process=1, descriptor=10**6, parts=())
    assert not node_copy._mapped(copy, LAYOUT)


def test_columns_that_are_slices_are_copied_from_their_own_start() -> None:
    lists = pa.array([[1], [2, 3], [], [4]], pa.large_list(pa.int32()))[1:3]
    images = EncodedImages(pa.array([b"ab", b"c", b"", b"d"], pa.large_binary())[1:3], IMAGE)
    rows = EncodedRows(torch.zeros(2, 2), torch.zeros((2, 1), dtype=torch.int64), np.arange(2), (lists,), (images,))
    copy = node_copy._Memory().filled(lambda empty: [_in(rows, empty)])
    (found,) = node_copy._mapped(copy, LAYOUT)
    assert content(found) == content(rows)


def _in(rows: EncodedRows, empty: Any) -> EncodedRows:
    for tensor in (rows.floats, rows.ints):
        empty(tuple(tensor.shape), tensor.dtype).copy_(tensor)
    return rows
