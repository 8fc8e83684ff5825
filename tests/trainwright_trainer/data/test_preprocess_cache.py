"""Preprocessing with a cache: what is found in it, what is computed again, damage, and processes at once."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
from datetime import timedelta
from pathlib import Path

import pytest

from trainwright_api.problems import Mistakes
from trainwright_trainer.data import source
from trainwright_trainer.data.preprocess import prepare
from trainwright_trainer.errors import EnvironmentFailure

from .prepared_values import MADE, entries_of, plain


def test_a_warm_run_is_the_cold_run(parquet, columns, usual):
    path = parquet(columns)
    cold = prepare(usual(), path, seed=7)
    assert cold.finish() == ()
    warm = prepare(usual(), path, seed=7)
    assert (cold.cache_hit, warm.cache_hit) == (False, True)
    assert plain(cold) == plain(warm)
    assert (cold.content, cold.cache_key) == (warm.content, warm.cache_key)
    assert [column.type for column in cold.columns.values()] == [column.type for column in warm.columns.values()]


def test_a_warm_cache_hides_no_target_that_is_no_share(parquet, config):
    path = parquet({"a": [1.0, 2.0, 3.0] * 20, "y": ["0.5 0.5", "0.2 0.8", "0.5 -0.4"] * 20})
    usual = config(["a:number"], ["y:vector"])
    prepare(usual, path, seed=0).finish()
    (output,) = usual.output_features
    loss = type(output).model_validate({"name": "y", "type": "vector", "loss": {"type": "softmax_cross_entropy"}})
    of_shares = usual.model_copy(update={"output_features": [output.model_copy(update={"loss": loss.loss})]})
    line = r"output_features\[0\]: column 'y' holds '0.5 -0.4' in row 3, which are no shares"
    with pytest.raises(Mistakes, match=line):
        prepare(of_shares, path, seed=0)


@pytest.mark.parametrize(
    "split",
    [
        {"type": "random"},
        {"type": "hash", "column": "g"},
        {"type": "fixed", "column": "part"},
        {"type": "stratify", "column": "y"},
        {"type": "datetime", "column": "made"},
    ],
    ids=lambda split: split["type"],
)
def test_a_warm_run_reads_no_raw_byte(parquet, columns, usual, split):
    columns |= {"part": [row % 3 for row in range(200)], "g": [f"group {row % 40}" for row in range(200)]}
    columns["made"] = [MADE + timedelta(hours=row * 77 % 200) for row in range(200)]
    path = Path(parquet(columns))
    config = usual(split=split)
    cold = prepare(config, str(path), seed=0)
    cold.finish()
    before = path.stat()
    with path.open("r+b") as file:  # the file keeps its identity, but its content becomes unreadable
        file.write(bytes(before.st_size))
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
    warm = prepare(config, str(path), seed=0)
    assert warm.cache_hit
    assert plain(cold) == plain(warm)


def test_the_raw_file_is_opened_in_a_cold_run_only(text, config, monkeypatch):
    path = text("n,y\n" + "".join(f"{row},{row % 2}\n" for row in range(100)), "data.csv")
    opened = []
    plainly = Path.open

    def counting(self, *args, **options):
        opened.append(self.name)
        return plainly(self, *args, **options)

    monkeypatch.setattr(Path, "open", counting)
    some = config(["n:number"], ["y:binary"])
    prepare(some, path, seed=0).finish()
    assert opened.count("data.csv") > 0
    opened.clear()
    assert prepare(some, path, seed=0).cache_hit
    assert "data.csv" not in opened


def test_a_touched_file_is_read_and_its_columns_are_still_known(parquet, columns, usual):
    path = parquet(columns)
    prepare(usual(), path, seed=0).finish()
    os.utime(path, ns=(0, 0))
    assert prepare(usual(), path, seed=0).cache_hit


def test_only_what_changed_is_computed_again(parquet, columns, usual, config, monkeypatch):
    path = parquet(columns)
    prepare(usual(), path, seed=0).finish()
    read = []
    blocks = source.blocks

    def watched(files, wanted, coded, block_rows):
        read.extend(column for _, column in wanted)
        return blocks(files, wanted, coded, block_rows)

    monkeypatch.setattr(source, "blocks", watched)
    inputs = [("n:number", {"normalization": "minmax"}), "c:category", "b:binary", "d:date", "v:vector"]
    changed = prepare(config(inputs, ["y:binary"]), path, seed=0)
    changed.finish()
    assert read == ["n"]
    assert not changed.cache_hit
    fresh = prepare(config(inputs, ["y:binary"]), path, seed=0, cache_dir=f"{path}.other")
    fresh.finish()
    assert plain(changed) == plain(fresh)


def test_a_damaged_entry_is_made_again_with_a_notice(parquet, columns, usual, tmp_path):
    path = parquet(columns)
    cold = prepare(usual(), path, seed=0)
    cold.finish()
    victim = next((tmp_path / ".trainwright_cache/features").iterdir())
    victim.write_bytes(victim.read_bytes()[:100])
    mended = prepare(usual(), path, seed=0)
    mended.finish()
    assert not mended.cache_hit
    assert any("is damaged; it is made again" in notice for notice in mended.notices)
    assert plain(mended)[:3] == plain(cold)[:3]
    assert prepare(usual(), path, seed=0).cache_hit


def test_rows_that_nobody_counted_are_counted_again(parquet, columns, usual, tmp_path):
    path = parquet(columns)
    cold = prepare(usual(), path, seed=0)
    cold.finish()
    shutil.rmtree(tmp_path / ".trainwright_cache/rows")
    found = prepare(usual(), path, seed=0)
    found.finish()
    assert plain(found) == plain(cold)
    assert prepare(usual(), path, seed=0).cache_hit


def test_where_the_cache_lies(parquet, columns, usual, tmp_path):
    prepare(usual(), parquet(columns, "one/data.parquet"), seed=0).finish()
    assert (tmp_path / "one/.trainwright_cache/features").is_dir()
    parquet(columns, "two/data/a.parquet")
    prepare(usual(), str(tmp_path / "two/data"), seed=0).finish()
    assert (tmp_path / "two/.trainwright_cache/features").is_dir()
    prepare(usual(), str(tmp_path / "two/data"), seed=0, cache_dir=str(tmp_path / "mine")).finish()
    assert (tmp_path / "mine/features").is_dir()


def test_a_cache_that_cannot_be_written_is_reported_before_anything_is_read(parquet, columns, usual, tmp_path):
    (tmp_path / "file").touch()
    with pytest.raises(EnvironmentFailure, match=r"backend\.cache_dir"):
        prepare(usual(), parquet(columns), seed=0, cache_dir=str(tmp_path / "file/cache"))


PROCESS = """
import json, os, signal, sys
from trainwright_api.config import ModelConfig, resolve
from trainwright_trainer.data.preprocess import prepare

path, config, dies = sys.argv[1], resolve(ModelConfig.model_validate_json(sys.argv[2])), sys.argv[3] == "dies"
rename = os.replace

def dying(source, target):
    if str(target).endswith(".parquet"):
        os.kill(os.getpid(), signal.SIGKILL)
    rename(source, target)

if dies:
    os.replace = dying
print("ready", flush=True)
sys.stdin.readline()
found = prepare(config, path, seed=0)
columns = {name: column.to_pylist() for name, column in found.columns.items()}
print(json.dumps([found.cache_key, found.splits.tolist(), columns, found.statistics, found.finish()]))
"""


def started(config, path, how="lives"):
    """A separate process that waits for a line on stdin before it calls `prepare`."""
    command = [sys.executable, "-c", PROCESS, path, config.model_dump_json(), how]
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert process.stdout.readline() == "ready\n"
    return process


def test_processes_at_once_do_no_harm(parquet, columns, usual):
    path = parquet(columns)
    processes = [started(usual(), path) for _ in range(3)]
    for process in processes:
        process.stdin.write("go\n")
        process.stdin.flush()
    answers = [json.loads(process.communicate()[0]) for process in processes]
    assert all(answer == answers[0] for answer in answers)
    assert answers[0][-1] == []
    assert prepare(usual(), path, seed=0).cache_hit


def test_a_killed_writer_leaves_nothing_that_is_used(parquet, columns, usual, tmp_path):
    path = parquet(columns)
    process = started(usual(), path, "dies")
    process.communicate("go\n")
    assert process.returncode == -signal.SIGKILL
    assert [name[-4:] for name, _ in entries_of(tmp_path, "features")] == [".tmp"]
    found = prepare(usual(), path, seed=0)
    fresh = prepare(usual(), path, seed=0, cache_dir=str(tmp_path / "fresh"))
    for one in (found, fresh):
        one.finish()
    assert plain(found) == plain(fresh)


def test_a_failed_write_is_a_notice_and_not_a_failed_run(parquet, columns, usual, monkeypatch):
    def full(_descriptor):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    found = prepare(usual(), parquet(columns), seed=0)
    (notice,) = found.finish()
    assert "could not be written (" in notice
    assert ": the disk is full)" in notice
    assert found.rows == 200
