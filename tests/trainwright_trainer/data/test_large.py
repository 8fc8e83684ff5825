"""Data that do not fit in memory: read again for each pass, and written to the cache block by block."""

from __future__ import annotations

import errno
import os
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from trainwright_api.problems import Mistakes
from trainwright_trainer.data import cache_lookup, encoded, rows, source
from trainwright_trainer.data.files import find
from trainwright_trainer.data.preprocess import prepare
from trainwright_trainer.errors import EnvironmentFailure
from trainwright_trainer.frames.pandas import PandasProcessor

from .prepared_values import plain

GAPS = {"missing_value_strategy": "bfill"}


@pytest.fixture
def small(monkeypatch):
    """Nothing fits in memory: blocks are small, and neither clean blocks nor encoded columns may be kept."""
    monkeypatch.setattr(rows, "BLOCK_ROWS", 16)
    monkeypatch.setattr("trainwright_trainer.data.computation.BLOCK_ROWS", 16)
    monkeypatch.setattr(encoded.EncodedColumns.__init__, "__defaults__", (0,))
    monkeypatch.setattr(cache_lookup, "MOST_ROWS_READ", 0)
    return PandasProcessor(2, kept_bytes=0)


@pytest.fixture
def gappy(config):
    inputs = [
        ("n:number", {**GAPS, "outlier_strategy": "ffill", "outlier_threshold": 1.2}),
        ("c:category", GAPS),
        "b:binary",
        ("d:date", {"missing_value_strategy": "drop_row"}),
        "v:vector",
    ]
    return lambda **preprocessing: config(inputs, ["y:binary"], **preprocessing)


def plain_with_key(found):
    return (*plain(found), found.cache_key)


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"sample_size": 150},
        {"split": {"type": "hash", "column": "n"}},
        {"split": {"type": "stratify", "column": "c"}},
        {"split": {"type": "datetime", "column": "when"}},
    ],
    ids=str,
)
def test_large_data_give_the_columns_of_small_data(small, gappy, parquet, columns, options):
    path = parquet({**columns, "when": [f"2024-01-01 00:{row // 60:02d}:{row % 60:02d}" for row in range(200)]})
    large = prepare(gappy(**options), path, seed=0, cache_dir=f"{path}.1", processor=small)
    kept = prepare(gappy(**options), path, seed=0, cache_dir=f"{path}.2", processor=PandasProcessor(2))
    assert kept.finish() == large.finish() == ()
    assert plain_with_key(large) == plain_with_key(kept)
    warm = prepare(gappy(**options), path, seed=0, cache_dir=f"{path}.1", processor=small)
    assert warm.cache_hit
    assert plain_with_key(warm) == plain_with_key(kept)


def test_each_pass_reads_the_data_once(small, usual, parquet, columns, monkeypatch):
    reads = []
    blocks = rows.blocks_of
    count = lambda tables, **options: reads.append(1) or blocks(tables, **options)  # noqa: E731
    monkeypatch.setattr("trainwright_trainer.data.source.blocks_of", count)
    prepare(usual(), parquet(columns), seed=0, processor=small)
    assert len(reads) == 2


def test_a_mistake_in_the_second_pass_leaves_no_column_of_its_feature(small, config, parquet, columns, tmp_path):
    columns["n"][199] = -3.0
    log = config([("n:number", {"normalization": "log1p"}), "c:category"], ["y:binary"], split={"type": "fixed"})
    path = parquet({**columns, "split": [row % 2 for row in range(198)] + [2, 2]})
    with pytest.raises(Mistakes, match=r"input_features\[0\]: column 'n' holds -3\.0 in row 200, and log1p needs"):
        prepare(log, path, seed=0, processor=small)
    assert len(list((tmp_path / ".trainwright_cache/features").iterdir())) == 2  # of c and y, which are complete


def test_a_full_disk_is_one_line_and_leaves_nothing(small, usual, parquet, columns, tmp_path, monkeypatch):
    def full(_descriptor):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    path = parquet(columns)
    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(EnvironmentFailure, match=r"features/.*: the disk is full"):
        prepare(usual(), path, seed=0, processor=small)
    assert [entry.name for entry in (tmp_path / ".trainwright_cache").rglob("*.parquet")] == []
    assert [entry.name for entry in (tmp_path / ".trainwright_cache").rglob("*.tmp")] == []


def test_a_file_that_changes_between_the_passes_is_one_line(small, usual, parquet, columns, tmp_path, monkeypatch):
    path = Path(parquet(columns))
    taken = encoded.EncodedColumns.end_of_block

    def changing(self):
        if any(column.file is not None for column in self._columns.values()):
            os.utime(path, ns=(0, 0))
        taken(self)

    monkeypatch.setattr(encoded.EncodedColumns, "end_of_block", changing)
    with pytest.raises(Mistakes, match=r"'data\.parquet' changed while it was read"):
        prepare(usual(), str(path), seed=0, processor=small)
    assert list((tmp_path / ".trainwright_cache/features").iterdir()) == []


def test_a_damaged_column_is_one_line_when_it_is_used(small, usual, parquet, columns, tmp_path):
    path = parquet(columns)
    prepare(usual(), path, seed=0, processor=small)
    for entry in (tmp_path / ".trainwright_cache/features").iterdir():
        data = bytearray(entry.read_bytes())
        data[60] ^= 1
        entry.write_bytes(data)
    found = prepare(usual(), path, seed=0, processor=small)
    with pytest.raises(EnvironmentFailure, match=r"cannot be read"):
        found.columns["n"].to_pylist()


@pytest.mark.usefixtures("small")
def test_many_columns_are_encoded_with_few_open_files(config, parquet, monkeypatch):
    monkeypatch.setattr("trainwright_trainer.data.passes._MOST_ENCODED", 2)
    most, opened = 0, 0
    begin = encoded.EncodedColumn.move_to_file

    def counting(self, *arguments):
        nonlocal opened, most
        opened += 1
        most = max(most, opened)
        begin(self, *arguments)

    end = encoded.EncodedColumns.end

    def closing(self):
        nonlocal opened
        opened = 0
        return end(self)

    monkeypatch.setattr(encoded.EncodedColumn, "move_to_file", counting)
    monkeypatch.setattr(encoded.EncodedColumns, "end", closing)
    table = {f"n{number}": np.arange(50.0) + number for number in range(5)} | {"y": pa.array([True, False] * 25)}
    found = prepare(
        config([(f"n{number}:number", {"normalization": None}) for number in range(5)], ["y:binary"]),
        parquet(table),
        seed=0,
    )
    assert found.columns["n4"].to_pylist() == [row + 4.0 for row in range(50)]
    assert most <= 2


def test_a_read_holds_a_small_part_of_the_file(parquet):
    table = {f"n{number}": np.random.default_rng(number).normal(size=1_000_000) for number in range(4)}
    path = parquet(table, row_group_size=20_000)
    wanted = [("config", name) for name in table]
    before, most = pa.total_allocated_bytes(), 0
    for block in source.blocks(find(path), wanted, ()):
        most = max(most, pa.total_allocated_bytes() - before)
        assert block.rows
    assert most < 12_000_000  # of 32 MB


@pytest.mark.parametrize("column", ["image", "image.bytes", "image.of.bytes"])
def test_large_values_are_read_few_at_a_time(tmp_path, monkeypatch, column):
    monkeypatch.setattr("trainwright_trainer.data.formats.parquet._BATCH_BYTES", 100 << 10)
    values = pa.array([bytes(1 << 10)] * 8_000)
    for name in reversed(column.split(".")[1:]):
        values = pa.StructArray.from_arrays([values], [name])
    pq.write_table(pa.table({"image": values}), tmp_path / "x.parquet", use_dictionary=False)
    del values
    before, most = pa.total_allocated_bytes(), 0
    for block in source.blocks(find(str(tmp_path / "x.parquet")), [("config", column)], (), 100):
        most = max(most, pa.total_allocated_bytes() - before)
        assert block.rows == 100
    assert most < 4 << 20  # of 8 MB
