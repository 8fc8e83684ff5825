"""Preprocessing that is killed, and a disk of the cache that is full."""

from __future__ import annotations

import random

import pytest

ENVIRONMENT = 3
INPUTS = 6


@pytest.fixture
def prepare(driver, tmp_path):
    """Start `trainwright preprocess` of a table with `INPUTS` numbers, into the folder `cache`."""
    draw = random.Random(1)
    rows = [",".join(str(draw.random()) for _ in range(INPUTS)) + f",{number % 2}" for number in range(20_000)]
    names = [f"n{number}" for number in range(INPUTS)]
    (tmp_path / "rows.csv").write_text("\n".join([",".join([*names, "y"]), *rows]) + "\n")

    def start(cache, limits=None):
        features = "".join(f"    - {{name: {name}, type: number}}\n" for name in names)
        outputs = "  output_features: [{name: y, type: binary}]\n"
        config = f"config:\n  input_features:\n{features}{outputs}"
        job = tmp_path / f"{cache.name}.yaml"
        job.write_text(f"dataset: rows.csv\nbackend: {{cache_dir: {cache}}}\n{config}")
        return driver.start(tmp_path, "preprocess", job.name, limits=limits)

    return start


def entries(cache):
    """The complete entries by name. A use is written again by each run."""
    found = (path for path in cache.rglob("*") if path.is_file() and not path.name.startswith("."))
    return {path.relative_to(cache).as_posix(): path for path in found if path.parent.name != "uses"}


@pytest.mark.slow
def test_each_kill_leaves_its_finished_entries_to_the_next_run(prepare, tmp_path):
    whole, cache = tmp_path / "whole", tmp_path / "cache"
    assert prepare(whole).wait() == 0
    finished = {}
    for _ in range(4):
        child, known = prepare(cache), len(finished)
        child.until(lambda known=known: len(entries(cache)) > known)
        child.kill()
        finished |= {name: path.stat().st_ino for name, path in entries(cache).items()}
    last = prepare(cache)
    assert last.wait() == 0, last.errors
    found = entries(cache)
    assert {name: path.read_bytes() for name, path in found.items() if not name.startswith("sources/")} == {
        name: path.read_bytes() for name, path in entries(whole).items() if not name.startswith("sources/")
    }
    assert {name: found[name].stat().st_ino for name in finished} == finished


def test_a_cache_on_a_full_disk_is_one_line_and_holds_no_half_entry(prepare, small_disk, lines):
    folder, limits = small_disk(100_000)
    child = prepare(folder / "cache", limits)
    assert child.wait() == ENVIRONMENT
    [line] = lines(child.errors)
    assert str(folder) in line
    assert "the disk is full" in line or "the file would be larger than the limit for files" in line
    assert not list((folder / "cache").rglob(".*"))
