"""A damaged checkpoint is detected, logged and skipped. The run resumes from the one before it."""

from __future__ import annotations

import pytest


def shard(checkpoint):
    [file] = checkpoint.glob("shard-*")
    return file


def flip_a_bit_of_a_shard(checkpoint):
    data = bytearray(shard(checkpoint).read_bytes())
    data[len(data) // 2] ^= 1
    shard(checkpoint).write_bytes(data)


def truncate_a_shard(checkpoint):
    shard(checkpoint).write_bytes(shard(checkpoint).read_bytes()[:-1000])


def remove_a_shard(checkpoint):
    shard(checkpoint).unlink()


def flip_a_bit_of_the_manifest(checkpoint):
    data = bytearray((checkpoint / "manifest.json").read_bytes())
    data[len(data) // 2] ^= 1
    (checkpoint / "manifest.json").write_bytes(data)


def truncate_the_manifest(checkpoint):
    manifest = checkpoint / "manifest.json"
    manifest.write_bytes(manifest.read_bytes()[:100])


HARMS = [
    flip_a_bit_of_a_shard,
    truncate_a_shard,
    remove_a_shard,
    flip_a_bit_of_the_manifest,
    pytest.param(truncate_the_manifest, marks=pytest.mark.slow),
]


@pytest.mark.parametrize("harm", HARMS)
def test_the_one_before_is_used(halted, lines, assert_same, harm):
    before, newest = halted.checkpoints()[-2:]
    harm(newest)
    child = halted.finish("--resume")
    [notice] = [line for line in lines(child.output) if "damaged" in line]
    assert notice.startswith(f"checkpoint {newest.name} is damaged and passed over: ")
    assert halted.attempts()[-1]["checkpoint"] == before.name
    assert child.errors == ""
    assert_same(halted)


def test_one_of_the_attempt_before_is_used_where_a_whole_attempt_is_damaged(halted, lines, assert_same):
    first = [folder for folder in halted.checkpoints() if folder.name.endswith("-1")]
    second = [folder for folder in halted.checkpoints() if folder.name.endswith("-2")]
    for folder in second:
        flip_a_bit_of_a_shard(folder)
    child = halted.finish("--resume")
    assert len([line for line in lines(child.output) if "is damaged and passed over" in line]) == len(second)
    assert halted.attempts()[-1]["checkpoint"] == first[-1].name
    assert_same(halted)


def test_training_begins_at_the_first_row_where_all_are_damaged(halted, lines, assert_same):
    damaged = halted.checkpoints()
    for folder in damaged:
        truncate_a_shard(folder)
    child = halted.finish("--resume")
    assert len([line for line in lines(child.output) if "is damaged and passed over" in line]) == len(damaged)
    assert "there is no checkpoint to go on from: training begins at the first row" in lines(child.output)
    assert halted.attempts()[-1]["checkpoint"] is None
    assert_same(halted)
