"""The commands `cache ls`, `cache verify` and `cache prune`, on a folder and on a store."""

from __future__ import annotations

import json
import os
import time
from pathlib import Path

import pytest

from trainwright_trainer.tasks import cache as tasks

CACHE = Path(".trainwright_cache")
BESIDE = (
    "name the folder or the URI of a cache; a job without backend.cache_dir has it beside its data, "
    "as in 'data/.trainwright_cache'"
)


@pytest.fixture
def filled(workplace):
    """A workplace with the cache of one run."""
    workplace.done("preprocess", workplace.job())
    return workplace


def objects(ended):
    return [json.loads(line) for line in ended.out.splitlines()]


def names():
    return sorted(path.relative_to(CACHE).as_posix() for path in CACHE.rglob("*.*") if path.is_file())


def test_ls_shows_each_column(filled):
    heading, *rows, total = filled.done("cache", "ls").out.splitlines()
    assert heading.split("   ")[0].strip() == "data set"
    columns = [path for path in names() if path.endswith(".parquet")]
    assert len(rows) == len(columns)
    assert all(row.startswith("data.csv   ") and "   200   " in row and row.endswith(" UTC") for row in rows)
    size = sum((CACHE / path).stat().st_size for path in names())
    assert total == f"{len(names())} entries ({size:,} bytes) in .trainwright_cache"


def test_ls_as_json_shows_each_entry(filled):
    found = objects(filled.done("cache", "ls", "--json"))
    assert [entry["entry"] for entry in found] == names()
    assert {entry["dataset"] for entry in found} == {"data.csv"}
    assert {entry["bytes"] for entry in found} == {(CACHE / path).stat().st_size for path in names()}
    assert all(entry["lastUsed"].endswith("+00:00") and entry["rows"] == 200 for entry in found)


def test_without_a_place_the_cache_is_that_of_the_working_folder(workplace):
    assert workplace.refused("cache", "ls") == f"cache: '.trainwright_cache' is no folder: {BESIDE}"


def test_an_empty_folder_has_no_entries(workplace):
    (workplace.folder / "empty").mkdir()
    assert workplace.done("cache", "ls", "empty").out == "0 entries (0 bytes) in empty\n"
    assert workplace.done("cache", "verify", "empty").out == "0 entries (0 bytes) in empty: all intact\n"


@pytest.mark.parametrize("command", ["ls", "verify", "prune"])
def test_the_folder_around_a_cache_is_no_cache(workplace, command):
    (workplace.folder / "data/.trainwright_cache").mkdir(parents=True)
    line = "cache: 'data' is no cache: name 'data/.trainwright_cache', which is in it"
    assert workplace.refused("cache", command, "data") == line


@pytest.mark.parametrize("command", ["ls", "verify", "prune"])
@pytest.mark.parametrize(
    ("place", "line"),
    [
        ("gone", f"cache: 'gone' is no folder: {BESIDE}"),
        ("data.csv", f"cache: 'data.csv' is no folder: {BESIDE}"),
        ("ftp://host/cache", "cache: not built yet: ftp://"),
    ],
)
def test_what_is_no_cache_is_one_line(workplace, command, place, line):
    assert workplace.refused("cache", command, place).startswith(line)


def test_verify_names_the_damaged_entries(filled):
    assert filled.done("cache", "verify").out.endswith("all intact\n")
    wrong = [name for name in names() if name.startswith(("statistics/", "features/"))][::3]
    for name in wrong:
        content = bytearray((CACHE / name).read_bytes())
        content[len(content) // 2] ^= 1
        (CACHE / name).write_bytes(content)
    ended = filled.run("cache", "verify")
    assert ended.code == 3
    assert ended.out.splitlines() == [f"{name} is damaged" for name in wrong]
    assert ended.err == (
        f"cache: {len(wrong)} of {len(names())} entries damaged; a run that needs one makes it again\n"
    )
    assert [entry["entry"] for entry in objects(filled.run("cache", "verify", "--json"))] == wrong
    filled.run("preprocess", "job.yaml")
    assert filled.done("cache", "verify").out.endswith("all intact\n")


def test_prune_deletes_what_was_not_used_for_a_time(filled):
    before = names()
    assert filled.done("cache", "prune", "--older-than", "1h").out.startswith("0 entries (0 bytes) deleted, ")
    assert names() == before
    (last,) = (CACHE / "uses").iterdir()
    last.unlink()
    old = [name for name in names() if name.startswith("features/")]
    for name in old:
        os.utime(CACHE / name, (time.time() - 7_000, time.time() - 7_000))
    dry = filled.done("cache", "prune", "--older-than", "1.5h", "--dry-run")
    assert dry.out.startswith(f"{len(old)} entries (")
    assert " would be deleted, " in dry.out
    assert [entry["entry"] for entry in objects(filled.done("cache", "prune", "--older-than", "1.5h", "--json"))] == old
    assert names() == sorted(set(before) - set(old) - {last.relative_to(CACHE).as_posix()})


def test_prune_deletes_down_to_a_size(filled):
    sizes = {name: (CACHE / name).stat().st_size for name in names()}
    limit = sum(sizes.values()) // 2
    filled.done("cache", "prune", "--max-bytes", str(limit))
    left = sum(sizes[name] for name in names())
    assert limit - max(sizes.values()) < left <= limit
    filled.done("cache", "prune", "--max-bytes", "0")
    assert names() == []


def test_prune_deletes_the_files_of_killed_writers_and_nothing_else(filled):
    before = names()
    (CACHE / "notes.txt").write_text("mine")
    for name, age in (("old", 90_000), ("new", 10)):
        path = CACHE / f"features/.{name}.parquet.0123456789abcdef.tmp"
        path.write_bytes(b"half")
        os.utime(path, (time.time() - age, time.time() - age))
    filled.done("cache", "prune", "--dry-run")
    assert (CACHE / "features/.old.parquet.0123456789abcdef.tmp").exists()
    filled.done("cache", "prune", "--max-bytes", "1T")
    new = "features/.new.parquet.0123456789abcdef.tmp"
    assert names() == sorted([*before, "notes.txt", new])
    filled.done("cache", "prune", "--max-bytes", "0")
    assert names() == sorted(["notes.txt", new])


def test_the_same_on_a_store(workplace, bucket):
    workplace.done("preprocess", workplace.job(lambda job: job.update(backend={"cache_dir": f"{bucket}/cache"})))
    found = objects(workplace.done("cache", "ls", f"{bucket}/cache", "--json"))
    assert {entry["dataset"] for entry in found} == {"data.csv"}
    assert workplace.done("cache", "verify", f"{bucket}/cache").out.endswith(f"{bucket}/cache: all intact\n")
    workplace.done("cache", "prune", f"{bucket}/cache", "--max-bytes", "0")
    assert objects(workplace.done("cache", "ls", f"{bucket}/cache", "--json")) == []


@pytest.mark.parametrize(
    ("text", "size"),
    [("0", 0), ("123", 123), ("5B", 5), ("20GB", 2 * 10**10), ("1.5k", 1500), ("18Gi", 18 * 2**30), ("2 MiB", 2**21)],
)
def test_sizes(text, size):
    assert tasks.bytes_of(text) == size


@pytest.mark.parametrize(("text", "seconds"), [("90s", 90), ("15m", 900), ("1.5h", 5400), ("30d", 2_592_000)])
def test_times(text, seconds):
    assert tasks.seconds_of(text) == seconds


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        (["--max-bytes", "much"], "'much' is no size: write a number of bytes, or for example 20GB or 18Gi"),
        (["--max-bytes", "1ki"], "'1ki' is no size"),
        (["--max-bytes", "-1"], "'-1' is no size"),
        (["--older-than", "30"], "'30' is no time: write for example 30d, 12h, 15m or 90s"),
        (["--older-than", ""], "is empty"),
    ],
)
def test_what_is_no_size_or_time_is_refused(filled, arguments, line):
    assert line in filled.refused("cache", "prune", *arguments)
