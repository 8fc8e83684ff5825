"""Blocks have a fixed number of rows, for tables of any size."""

from __future__ import annotations

import pyarrow as pa
import pytest

from trainwright_trainer.data import rows
from trainwright_trainer.data.rows import BLOCK_ROWS, blocks_of


def tables(*sizes):
    start = 0
    for size in sizes:
        yield pa.table({"x": list(range(start, start + size))})
        start += size


@pytest.mark.parametrize(
    "sizes",
    [(10,), (BLOCK_ROWS,), (BLOCK_ROWS + 1,), (3, 70_000, 5), (200_000,), (40_000,) * 5, (0, BLOCK_ROWS, 0, 1)],
)
def test_blocks_do_not_depend_on_how_tables_were_cut(sizes):
    blocks = list(blocks_of(tables(*sizes)))
    assert all(block.rows == BLOCK_ROWS for block in blocks[:-1])
    assert 0 < blocks[-1].rows <= BLOCK_ROWS
    assert [block.first_row for block in blocks] == list(range(0, sum(sizes), BLOCK_ROWS))
    assert [value for block in blocks for value in block.columns["x"].to_pylist()] == list(range(sum(sizes)))


def test_no_rows_are_no_block():
    assert list(blocks_of(tables(0, 0))) == []


def test_kin_types_meet_in_the_wider_one():
    mixed = [pa.table({"x": [1, 2]}), pa.table({"x": [2.5]}), pa.table({"x": pa.nulls(1)})]
    (block,) = blocks_of(mixed)
    assert block.columns["x"].to_pylist() == [1.0, 2.0, 2.5, None]


def test_texts_above_two_gib_in_a_block_get_wide_offsets(monkeypatch):
    parts = [pa.table({"x": ["aa", None]}), pa.table({"x": ["bbb"]})]
    (usual,) = blocks_of(parts)
    monkeypatch.setattr(rows, "_MOST_BYTES", 4)
    (block,) = blocks_of(parts)
    assert (usual.columns["x"].type, block.columns["x"].type) == (pa.string(), pa.large_string())
    assert block.columns["x"].to_pylist() == ["aa", None, "bbb"]


def test_dictionaries_are_joined():
    parts = [
        pa.table({"x": pa.array(["a", "b"]).dictionary_encode()}),
        pa.table({"x": pa.array(["c", "a"]).dictionary_encode()}),
    ]
    (block,) = blocks_of(parts)
    assert block.columns["x"].to_pylist() == ["a", "b", "c", "a"]
