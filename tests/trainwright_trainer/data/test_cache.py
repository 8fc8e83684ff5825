"""The cache folder: an entry is complete or absent."""

from __future__ import annotations

import errno
import os
import threading

import pyarrow as pa
import pytest

from trainwright_trainer.data import columnfile
from trainwright_trainer.data.cache import Cache
from trainwright_trainer.data.columnfile import Column
from trainwright_trainer.errors import EnvironmentFailure
from trainwright_trainer.storage.local import FolderStorage

COLUMN = Column(pa.chunked_array([pa.array([1.0, 2.0], pa.float32())]), ("a notice",))


def files_in(folder):
    return sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file())


def test_entries_come_back(tmp_path):
    cache = Cache(FolderStorage(tmp_path / "deep/cache"))
    cache.make()
    assert cache.read_json("statistics", "k") is None
    assert cache.read_column("features", "k") is None
    cache.write_json("statistics", "k", {"a": [1, "ü"]})
    cache.write_column("features", "k", COLUMN)
    assert cache.finish() == ()
    other = Cache(FolderStorage(tmp_path / "deep/cache"))
    assert other.read_json("statistics", "k") == {"a": [1, "ü"]}
    assert other.read_column("features", "k").values.to_pylist() == [1.0, 2.0]
    assert files_in(tmp_path / "deep/cache") == ["features/k.parquet", "statistics/k.json"]


@pytest.mark.parametrize("damage", [b"", b"{", b'{"digest": "x", "entry": {"a": 2}}', b"[]", b"\xff"])
def test_a_damaged_json_entry_is_absent_and_reported_once(tmp_path, damage):
    cache = Cache(FolderStorage(tmp_path))
    cache.write_json("statistics", "k", {"a": 1})
    assert cache.finish() == ()
    (tmp_path / "statistics/k.json").write_bytes(damage)
    assert cache.read_json("statistics", "k") is None
    assert cache.read_json("statistics", "k") is None
    (notice,) = cache.take_notices()
    assert notice.endswith("k.json' is damaged; it is made again")
    assert cache.take_notices() == ()


@pytest.mark.parametrize("cut", [0, 3, 50, 200])
def test_a_damaged_column_is_absent_and_reported(tmp_path, cut):
    cache = Cache(FolderStorage(tmp_path))
    cache.write_column("features", "k", COLUMN)
    cache.finish()
    path = tmp_path / "features/k.parquet"
    path.write_bytes(path.read_bytes()[:cut])
    assert cache.read_column("features", "k") is None
    assert len(cache.take_notices()) == 1


def test_a_half_written_entry_is_never_seen(tmp_path, monkeypatch):
    cache = Cache(FolderStorage(tmp_path))

    def half(file, _column):
        file.write(b"PAR1 and then the process")
        file.flush()
        assert files_in(tmp_path)[0].startswith("features/.k.parquet.")
        assert cache.read_column("features", "k") is None
        raise KeyboardInterrupt

    monkeypatch.setattr(columnfile, "write", half)
    cache.write_column("features", "k", COLUMN)
    with pytest.raises(KeyboardInterrupt):
        cache.finish()
    assert files_in(tmp_path) == []


def test_a_full_disk_is_one_notice(tmp_path, monkeypatch):
    cache = Cache(FolderStorage(tmp_path))

    def full(_descriptor):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "fsync", full)
    cache.write_json("statistics", "k", {})
    cache.write_column("features", "k", COLUMN)
    (notice,) = cache.finish()
    assert notice == (
        f"the cache in '{tmp_path}' could not be written ({tmp_path}/statistics/k.json: the disk is full); "
        "the next run will preprocess again"
    )
    assert files_in(tmp_path) == []


def test_a_folder_that_cannot_be_written_names_the_option(tmp_path):
    (tmp_path / "file").touch()
    with pytest.raises(EnvironmentFailure, match=r"Set backend\.cache_dir to a place that can be written\."):
        Cache(FolderStorage(tmp_path / "file/cache")).make()


def test_finish_can_be_called_twice(tmp_path):
    cache = Cache(FolderStorage(tmp_path))
    cache.write_column("features", "k", COLUMN)
    assert cache.finish() == ()
    assert cache.finish() == ()


def test_what_killed_writers_left_is_swept_after_a_day(tmp_path):
    (tmp_path / "features").mkdir()
    old, young = tmp_path / "features/.old.tmp", tmp_path / "features/.young.tmp"
    for path in (old, young):
        path.touch()
    os.utime(old, ns=(0, 0))
    Cache(FolderStorage(tmp_path)).make()
    assert files_in(tmp_path) == ["features/.young.tmp"]


def test_entries_in_a_remote_store_are_written_side_by_side(tmp_path, monkeypatch):
    storage, both = FolderStorage(tmp_path), threading.Barrier(2, timeout=60)
    monkeypatch.setattr(FolderStorage, "is_remote", True)
    monkeypatch.setattr(storage, "write_by", lambda *_: both.wait())
    cache = Cache(storage)
    cache.write_json("statistics", "k", {})
    cache.write_column("features", "k", COLUMN)
    assert cache.finish() == ()
