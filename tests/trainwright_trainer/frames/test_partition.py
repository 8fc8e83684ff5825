"""Partitions and the tasks that clean and map them."""

from __future__ import annotations

import os
from pathlib import Path

import pyarrow as pa
import pytest

from trainwright_api.problems import Mistakes
from trainwright_trainer.errors import EnvironmentFailure, Outcome
from trainwright_trainer.frames import partition

from .logged_blocks import Number, Numbers, doubled, failing, mistaken, same


@pytest.mark.parametrize("count", [None, 1, 3, 7, 100])
@pytest.mark.parametrize("blocks", [1, 7, 100])
def test_each_block_is_in_one_partition(blocks: int, count: int | None) -> None:
    parts = partition.cut(blocks, 2, count)
    assert [number for part in parts for number in part] == list(range(blocks))
    assert count is None or len(parts) == min(count, blocks)
    assert max(map(len, parts)) - min(map(len, parts)) <= 1


def test_no_block_is_in_no_partition() -> None:
    assert partition.cut(0, 2) == partition.cut(0, 2, 3) == []


def test_a_task_reads_in_the_folder_of_its_caller_with_one_thread(tmp_path: Path) -> None:
    def where(_: Number) -> tuple[str, int]:
        return os.getcwd(), pa.cpu_count()

    before, threads = os.getcwd(), pa.cpu_count()
    try:
        assert partition.cleaned([Number(1)], where, str(tmp_path)) == [(str(tmp_path), 1)]
        assert partition.cleaned([Number(1)], where, str(tmp_path / "missing")) == [(str(tmp_path), 1)]
    finally:
        os.chdir(before)
    assert pa.cpu_count() == threads


def test_a_source_is_read_and_blocks_are_taken(tmp_path: Path) -> None:
    source = Numbers(2, 5, tmp_path / "log")
    assert partition.cleaned(source, same, ".") == partition.cleaned(list(source.blocks()), same, ".")
    assert partition.mapped([Number(1), Number(4)], doubled) == [2, 8]


def test_the_first_error_is_the_result_of_both_tasks() -> None:
    clean = partition.cleaned([Number(value) for value in range(2, 6)], mistaken, ".")
    assert isinstance(clean, Outcome)
    assert partition.mapped(clean, doubled) is clean
    with pytest.raises(Mistakes, match="row 3 is wrong"):
        partition.results(clean)
    with pytest.raises(EnvironmentFailure, match="the disk is full"):
        partition.results(partition.mapped([Number(9)], failing))
    assert partition.results([1, 2]) == [1, 2]
