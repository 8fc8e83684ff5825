"""Modin on a real Ray: results in the order of the blocks, one read of each, all tasks at once, errors as they are."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest
from tests import modin_ray

from trainwright_api.problems import Mistakes
from trainwright_trainer.errors import EnvironmentFailure, WorkerCrash

from .logged_blocks import Number, Numbers, crashing, doubled, failing, mistaken, reads, same

pytest.importorskip("modin", reason="processor modin has its own environment: make test-modin")
TASKS = 3


@pytest.fixture(scope="module")
def processor() -> Iterator[Any]:
    with modin_ray.small_blocks():
        import ray

        from trainwright_trainer.frames.modin import ModinProcessor

        yield ModinProcessor(ray.put, ray.get, TASKS)


@pytest.fixture
def log(tmp_path: Path) -> Path:
    path = tmp_path / "log"
    path.touch()
    return path


@dataclass(frozen=True)
class Counting:
    """A processor that keeps the numbers of rows of its operations."""

    processor: Any
    rows: list[int]

    def __getattr__(self, name: str) -> Any:
        return getattr(self.processor, name)

    def started(self, rows: Any, function: Any) -> Any:
        self.rows.append(len(rows))
        return self.processor.started(rows, function)


@pytest.mark.parametrize("can_divide", [True, False])
@pytest.mark.parametrize("blocks", [0, 1, 10, 70])
def test_results_come_in_the_order_of_the_blocks(processor, log, blocks, can_divide):
    stage = processor.stage(Numbers(0, blocks, log, can_divide), same)
    for last in (False, False, True):
        assert list(stage.map(doubled, last=last)) == [2 * number for number in range(blocks)]
    assert sorted(reads(log)) == list(range(blocks))


def test_a_stage_that_was_freed_is_read_again(processor, log):
    stage = processor.stage(Numbers(0, 4, log), same)
    for _ in range(2):
        assert list(stage.map(doubled, last=True)) == [0, 2, 4, 6]
    assert sorted(reads(log)) == [0, 0, 1, 1, 2, 2, 3, 3]


@pytest.mark.parametrize(("blocks", "partitions"), [(2, 2), (10, TASKS), (70, 5)])
def test_a_partition_for_each_task_and_none_is_large(processor, log, blocks, partitions):
    counting = Counting(processor, [])
    stage = type(processor.stage(None, same))(counting, Numbers(0, blocks, log), same)
    list(stage.map(doubled))
    list(stage.map(doubled, last=True))
    assert counting.rows == [partitions] * 3


def process(_: Number) -> int:
    return os.getpid()


def values(block: Number) -> Any:
    """Values that pandas would convert or spread."""
    return [None, float("nan"), [1, 2], {"a": 1}, (), "ä", b"x", True][block.value]


def test_values_are_what_the_function_returns(processor, log):
    found = list(processor.stage(Numbers(0, 8, log), same).map(values))
    assert list(map(repr, found)) == ["None", "nan", "[1, 2]", "{'a': 1}", "()", "'ä'", "b'x'", "True"]
    assert list(map(type, found)) == [type(None), float, list, dict, tuple, str, bytes, bool]


def test_the_work_is_done_elsewhere_and_leaves_the_environment_as_it_was(processor, log, monkeypatch):
    monkeypatch.setenv("OMP_NUM_THREADS", "7")
    assert os.getpid() not in set(processor.stage(Numbers(0, 6, log), same).map(process))
    assert os.environ["OMP_NUM_THREADS"] == "7"
    monkeypatch.delenv("OMP_NUM_THREADS")
    list(processor.stage(Numbers(0, 1, log), same).map(process))
    assert "OMP_NUM_THREADS" not in os.environ


def test_all_is_read_before_the_first_result_is_taken(processor, log):
    """With Dask, it is not."""
    read: list[int] = []
    watching = replace(processor, get=lambda row: (read.append(len(reads(log))), processor.get(row))[1])
    assert len(list(watching.stage(Numbers(0, 20, log, False), same).map(doubled))) == 20
    assert read == [20] * 5


FUNCTIONS: list[tuple[Callable[[Any], Any], Callable[[Any], Any], type[Exception], str]] = [
    (mistaken, doubled, Mistakes, "row 3 is wrong"),
    (same, failing, EnvironmentFailure, "the disk is full"),
    (same, crashing, WorkerCrash, "ZeroDivisionError"),
]


@pytest.mark.parametrize(("clean", "function", "error", "line"), FUNCTIONS)
def test_the_error_of_the_first_block_that_fails_is_raised(processor, log, clean, function, error, line):
    with pytest.raises(error, match=line) as caught:
        list(processor.stage(Numbers(0, 10, log), clean).map(function))
    if error is Mistakes:
        assert caught.value.problems == Mistakes.one("dataset", "row 3 is wrong").problems


def test_a_task_that_is_lost_for_good_is_one_line(processor, log):
    def losing(_: Any) -> Any:
        raise ConnectionError("The worker died.\nIts log follows.")

    stage = replace(processor, get=losing, lost=(ConnectionError,)).stage(Numbers(0, 3, log), same)
    with pytest.raises(EnvironmentFailure, match=r"^a task of preprocessing was lost.*: The worker died\.$"):
        list(stage.map(doubled))
