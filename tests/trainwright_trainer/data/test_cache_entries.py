"""The entries of a cache: what each is of, when it was used, and which of them are old."""

from __future__ import annotations

import os

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from trainwright_trainer.data.cache import Cache
from trainwright_trainer.data.cache_entries import Entry, entries_of, is_intact, least_recently_used
from trainwright_trainer.data.columnfile import Column
from trainwright_trainer.storage.local import FolderStorage

A, B, C = ("a" * 64, "b" * 64, "c" * 64)
COLUMN = Column(pa.chunked_array([pa.array(range(1000), pa.int32())]))
ENTRIES = st.lists(st.tuples(st.integers(0, 9), st.integers(0, 50)), max_size=30).map(
    lambda pairs: [Entry(f"features/{at}", size, used) for at, (used, size) in enumerate(pairs)]
)


@pytest.fixture
def cache(tmp_path):
    """Two columns and the statistics of one, changed at second 100."""
    made = Cache(FolderStorage(tmp_path))
    for key in (A, B):
        made.write_column("features", key, COLUMN)
    made.write_json("statistics", A, {"mean": 1})
    assert made.finish() == ()
    for path in tmp_path.rglob("*.*"):
        os.utime(path, (100, 100))
    return Cache(FolderStorage(tmp_path))


def use(cache, key, when, dataset, **entries):
    record = {"dataset": dataset, "rows": 1000, "used": when, "entries": {f"features/{entries['of']}.parquet": "size"}}
    cache.try_to_write_json("uses", key, record)


def test_an_entry_without_a_record_was_used_when_it_was_written(cache):
    assert [(entry.name, entry.used, entry.dataset) for entry in entries_of(cache)] == [
        (f"features/{A}.parquet", 100, None),
        (f"features/{B}.parquet", 100, None),
        (f"statistics/{A}.json", 100, None),
    ]


def test_the_last_record_tells_of_what_an_entry_is(cache, tmp_path):
    use(cache, A, 500, "new.csv", of=A)
    use(cache, B, 300, "old.csv", of=A)
    use(cache, C, 50, "older.csv", of=B)
    for path in (tmp_path / "uses").iterdir():
        os.utime(path, (100, 100))
    found = {entry.name[:10]: entry for entry in entries_of(cache)}
    column = found["features/a"]
    assert (column.used, column.dataset, column.feature, column.rows) == (500, "new.csv", "size", 1000)
    assert (found["features/b"].used, found["features/b"].dataset) == (100, "older.csv")
    assert [(found[f"uses/{key}"].used, found[f"uses/{key}"].dataset) for key in ("aaaaa", "bbbbb", "ccccc")] == [
        (500, "new.csv"),
        (300, "old.csv"),
        (100, "older.csv"),
    ]
    assert found["features/a"].size == (tmp_path / f"features/{A}.parquet").stat().st_size


def test_a_damaged_record_is_no_record(cache, tmp_path):
    use(cache, A, 500, "new.csv", of=A)
    (tmp_path / f"uses/{A}.json").write_text("{")
    assert [entry.dataset for entry in entries_of(cache)] == [None] * 4


@pytest.mark.parametrize(
    "name", ["notes.txt", "features/mine.parquet", f"features/{A}.csv", f"other/{A}.json", f"features/{A[1:]}g.parquet"]
)
def test_other_files_are_no_entries(cache, tmp_path, name):
    before = entries_of(cache)
    path = tmp_path / name
    path.parent.mkdir(exist_ok=True)
    path.write_text("mine")
    assert entries_of(cache) == before


@given(ENTRIES, st.integers(0, 1500), st.sets(st.integers(0, 29)), st.integers(0, 10))
def test_the_least_recently_used_entries_go_and_no_more_than_needed(entries, max_bytes, kept, until):
    names = {f"features/{at}" for at in kept}
    gone = least_recently_used(entries, max_bytes, names, until)
    left = [entry for entry in entries if entry not in gone]
    free = [entry for entry in left if entry.name not in names and entry.used <= until]
    assert all(entry.name not in names and entry.used <= until for entry in gone)
    assert sum(entry.size for entry in left) <= max_bytes or not free
    assert all(old.used <= new.used for old in gone for new in free)
    if gone:
        assert sum(entry.size for entry in left) + gone[-1].size > max_bytes


@pytest.mark.parametrize("at", ["early", "middle", "last"])
def test_a_damaged_byte_is_found(cache, tmp_path, at):
    column, statistics = entries_of(cache)[0], entries_of(cache)[2]
    for entry in (column, statistics):
        assert is_intact(cache, entry)
        path = tmp_path / entry.name
        content = bytearray(path.read_bytes())
        content[{"early": 60, "middle": len(content) // 2, "last": -1}[at]] ^= 1
        path.write_bytes(content)
        assert not is_intact(cache, entry)


def test_a_column_that_is_cut_is_damaged(cache, tmp_path):
    path = tmp_path / f"features/{A}.parquet"
    path.write_bytes(path.read_bytes()[:-100])
    assert not is_intact(cache, entries_of(cache)[0])
