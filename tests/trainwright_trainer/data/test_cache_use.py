"""The record that a run leaves of its use of a cache, and the entries that it evicts."""

from __future__ import annotations

import os

import pytest

from trainwright_trainer.data.cache import Cache
from trainwright_trainer.data.cache_entries import entries_of
from trainwright_trainer.data.cache_use import IN_USE_SECONDS
from trainwright_trainer.data.computation import Computation
from trainwright_trainer.data.preprocess import prepare
from trainwright_trainer.storage.local import FolderStorage
from trainwright_trainer.storage.registry import storage_at

CACHE = ".trainwright_cache"


@pytest.fixture
def run(parquet, columns, usual):
    """Prepares the data with another seed, and so with other statistics and columns. Returns the notices."""
    path = parquet(columns)

    def prepared(seed, **options):
        return prepare(usual(**options.pop("preprocessing", {})), path, seed=seed, **options).finish()

    return prepared


def entries(folder):
    return entries_of(Cache(FolderStorage(folder)))


def age(folder, seconds):
    """Let `seconds` pass, for all entries and records that are there."""
    cache = Cache(FolderStorage(folder))
    for entry in entries(folder):
        kind, _, file = entry.name.partition("/")
        if kind == "uses":
            record = cache.read_json(kind, file[:-5])
            cache.try_to_write_json(kind, file[:-5], {**record, "used": record["used"] - seconds})
    for path in folder.rglob("*.*"):
        changed = path.stat().st_mtime - seconds
        os.utime(path, (changed, changed))


def test_a_run_records_what_it_uses(run, tmp_path):
    assert run(0, preprocessing={"split": {"type": "stratify", "column": "y"}}) == ()
    found = entries(tmp_path / CACHE)
    assert {entry.dataset for entry in found} == {"data.parquet"}
    assert {entry.rows for entry in found} == {200}
    features = [entry.feature for entry in found if entry.name.startswith("features/")]
    assert sorted(features) == ["b", "c", "d", "n", "v", "y"]
    kinds = [entry.name.partition("/")[0] for entry in found]
    assert {kind: kinds.count(kind) for kind in kinds} == {
        "features": 6,
        "rows": 1,
        "sources": 1,
        "splits": 1,
        "statistics": 6,
        "uses": 1,
    }


def test_a_second_run_uses_the_same_entries_later(run, tmp_path):
    run(0)
    age(tmp_path / CACHE, 10_000)
    before = {entry.name: entry.used for entry in entries(tmp_path / CACHE)}
    run(0)
    after = {entry.name: entry.used for entry in entries(tmp_path / CACHE)}
    assert before.keys() == after.keys()
    assert all(after[name] > used + 9_000 for name, used in before.items())


def test_a_run_evicts_what_was_used_longest_ago(run, tmp_path):
    folder = tmp_path / CACHE
    for seed in (0, 1, 2):
        run(seed)
        age(folder, 2 * IN_USE_SECONDS)
    run(0)
    before = entries(folder)
    (notice,) = run(0, max_cache_bytes=sum(entry.size for entry in before) - 1)
    left = {entry.name for entry in entries(folder)}
    gone = [entry for entry in before if entry.name not in left]
    assert [entry.used for entry in gone] == [min(entry.used for entry in before)]
    assert "; deleted 1 entry (" in notice
    (notice,) = run(0, max_cache_bytes=1)
    assert "the others are in use" in notice
    own = entries(folder)
    run(0)
    assert {entry.name for entry in own} == {entry.name for entry in entries(folder)}
    assert {entry.feature for entry in own if entry.is_column} == {"b", "c", "d", "n", "v", "y"}


def test_what_another_run_began_to_use_a_moment_ago_stays(run, tmp_path):
    run(0)
    before = {entry.name for entry in entries(tmp_path / CACHE)}
    (notice,) = run(1, max_cache_bytes=1)
    assert notice.startswith("cache.maxBytes: the cache has ")
    assert before <= {entry.name for entry in entries(tmp_path / CACHE)}


@pytest.mark.parametrize(("passed", "stays"), [(600, False), (1_300, True)])
def test_a_run_that_reads_its_columns_records_their_use_again(run, parquet, columns, usual, tmp_path, passed, stays):
    data = prepare(usual(), parquet(columns), seed=0)
    data.finish()
    before = {entry.name for entry in entries(tmp_path / CACHE)}
    age(tmp_path / CACHE, 2 * IN_USE_SECONDS)
    data.cache_use.recorded -= passed
    data.parts_of(["n"], 0, 1, 1)
    run(1, max_cache_bytes=1)
    assert (before <= {entry.name for entry in entries(tmp_path / CACHE)}) is stays


def test_columns_that_a_run_reuses_stay_while_it_computes_others(run, parquet, columns, config, tmp_path, monkeypatch):
    inputs, path, folder = ["n:number", "c:category"], parquet(columns), tmp_path / CACHE
    prepare(config(inputs, ["y:binary"]), path, seed=0).finish()
    before = {entry.name for entry in entries(folder) if entry.is_column}
    age(folder, 2 * IN_USE_SECONDS)
    compute = Computation.run

    def meanwhile(self):
        monkeypatch.setattr(Computation, "run", compute)
        run(1, max_cache_bytes=1)  # of another process
        return compute(self)

    monkeypatch.setattr(Computation, "run", meanwhile)
    prepare(config([*inputs, "d:date"], ["y:binary"]), path, seed=0).finish()
    assert before <= {entry.name for entry in entries(folder)}


def test_a_cache_that_is_small_enough_is_left_alone(run, tmp_path):
    run(0)
    age(tmp_path / CACHE, 2 * IN_USE_SECONDS)
    assert run(1, max_cache_bytes=10**9) == ()
    assert len([entry for entry in entries(tmp_path / CACHE) if entry.name.startswith("uses/")]) == 2


def test_finishing_twice_records_and_evicts_once(parquet, columns, usual, tmp_path):
    data = prepare(usual(), parquet(columns), seed=0, max_cache_bytes=1)
    assert len(data.finish()) == 1
    (record,) = (tmp_path / CACHE / "uses").iterdir()
    record.unlink()
    assert data.finish() == ()
    assert not record.exists()


def test_a_cache_that_may_only_be_read_is_used_without_a_notice(run, tmp_path, monkeypatch):
    run(0)
    (record,) = (tmp_path / CACHE / "uses").iterdir()
    before = record.stat()
    monkeypatch.setattr("trainwright_trainer.storage.local.os.replace", _read_only)
    assert run(0) == ()
    assert record.stat() == before


def test_in_a_store(run, bucket):
    storage = storage_at(f"{bucket}/cache")
    assert run(0, cache_dir=f"{bucket}/cache") == ()
    found = entries_of(Cache(storage))
    assert {entry.dataset for entry in found} == {"data.parquet"}
    (notice,) = run(1, cache_dir=f"{bucket}/cache", max_cache_bytes=1)
    assert notice.startswith("cache.maxBytes: the cache has ")
    assert {entry.name for entry in found} <= {entry.name for entry in entries_of(Cache(storage))}


def test_a_store_that_fails_while_entries_are_evicted_is_one_notice(run, monkeypatch, tmp_path):
    run(0)
    age(tmp_path / CACHE, 2 * IN_USE_SECONDS)

    monkeypatch.setattr("trainwright_trainer.storage.local.Path.unlink", _read_only)
    (notice,) = run(1, max_cache_bytes=1)
    assert notice.startswith("cache.maxBytes: no entry of the cache could be evicted (")


def _read_only(*_, **__):
    raise OSError(30, "Read-only file system")
