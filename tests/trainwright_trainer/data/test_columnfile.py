"""Columns as files: reading returns what was written, bit for bit, and refuses damaged files."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from trainwright_trainer.data import columnfile
from trainwright_trainer.data.columnfile import Column, footer, parts, read, write

COLUMNS = {
    "floats": pa.chunked_array([pa.array([1.5, None, float("nan")], pa.float32()), pa.array([2.5], pa.float32())]),
    "ints": pa.chunked_array([pa.array([1, 2, 3], pa.int32())]),
    "bytes": pa.chunked_array([pa.array([1, 2, 3], pa.uint8())]),
    "lists": pa.chunked_array([pa.array([[1, 2], [3, 4], [5, 6]], pa.list_(pa.int32(), 2)).slice(1)]),
    "ragged": pa.chunked_array([pa.array([[9], [1, 2], [], None, [3]], pa.large_list(pa.int32())).slice(1)]),
    "empty": pa.chunked_array([pa.array([[], []], pa.large_list(pa.int32()))]),
    "gaps": pa.chunked_array([pa.array([[1.0, 2.0], None, [5.0, 6.0]], pa.list_(pa.float32(), 2))]),
}


@pytest.mark.parametrize("name", COLUMNS)
def test_a_column_comes_back(tmp_path, name):
    path = tmp_path / "column.parquet"
    with path.open("wb") as file:
        write(file, Column(COLUMNS[name], ("a notice",)))
    found = read(path)
    assert found.values.type == COLUMNS[name].type
    assert str(found.values.to_pylist()) == str(COLUMNS[name].to_pylist())
    assert found.notices == ("a notice",)


def test_pages_are_plain(tmp_path):
    path = tmp_path / "column.parquet"
    with path.open("wb") as file:
        write(file, Column(COLUMNS["ints"]))
    chunk = pq.ParquetFile(path).metadata.row_group(0).column(0)
    assert chunk.compression == "UNCOMPRESSED"
    assert "PLAIN" in chunk.encodings
    assert not any("DICTIONARY" in encoding for encoding in chunk.encodings)


def test_a_flipped_bit_is_found(tmp_path):
    path = tmp_path / "column.parquet"
    with path.open("wb") as file:
        write(file, Column(pa.chunked_array([pa.array(np.arange(10_000, dtype=np.float32))])))
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.write_bytes(data)
    with pytest.raises(OSError, match="CRC"):
        read(path)


def test_the_checksum_of_a_row_group_is_compared_once(tmp_path, monkeypatch):
    monkeypatch.setattr(columnfile, "GROUP_ROWS", 1_000)
    path = tmp_path / "column.parquet"
    with path.open("wb") as file:
        write(file, Column(pa.chunked_array([pa.array(np.arange(2_000, dtype=np.float32))])))
    found, verified = footer(path), set()
    assert len(list(parts(path, found, 0, 500, verified))) == 1
    assert verified == {0}
    data = bytearray(path.read_bytes())
    for group in range(2):
        data[found.about.row_group(group).column(0).data_page_offset + 100] ^= 1
    path.write_bytes(data)
    assert len(list(parts(path, found, 0, 1_000, verified))) == 1
    with pytest.raises(OSError, match="CRC"):
        list(parts(path, found, 0, 2_000, verified))
    assert verified == {0}


@pytest.mark.parametrize("name", COLUMNS)
def test_rows_are_read_row_group_by_row_group(tmp_path, name, monkeypatch):
    monkeypatch.setattr(columnfile, "GROUP_ROWS", 2)
    path = tmp_path / "column.parquet"
    with path.open("wb") as file:
        write(file, Column(COLUMNS[name]))
    about, whole = footer(path), COLUMNS[name]
    for start in range(len(whole)):
        for stop in range(start + 1, len(whole) + 3):
            found = list(parts(path, about, start, stop, set()))
            assert all(0 < len(part) <= 2 for part in found)
            assert pa.chunked_array(found, about.type).type == whole.type
            assert str([one for part in found for one in part.to_pylist()]) == str(whole[start:stop].to_pylist())
