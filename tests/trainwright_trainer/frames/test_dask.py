"""Dask: every partition is one task, results come in the order of the blocks, and errors as the caller knows them."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import dask.local
import pytest

from trainwright_api.problems import Mistakes
from trainwright_trainer.errors import EnvironmentFailure, WorkerCrash
from trainwright_trainer.frames.dask import DaskProcessor

from .logged_blocks import Numbers, crashing, doubled, failing, mistaken, reads, same


class Counting:
    """A scheduler of Dask that runs each task at once, and counts the tasks by function."""

    def __init__(self) -> None:
        self.tasks: list[str] = []

    def __call__(self, graph: Any, keys: Any, **options: Any) -> Any:
        graph = getattr(graph, "_optimized_dsk", graph)
        self.tasks += [key.partition("-")[0] for key, task in dict(graph).items() if callable(task)]
        return dask.local.get_sync(graph, keys, **options)


@pytest.fixture
def log(tmp_path: Path) -> Path:
    path = tmp_path / "log"
    path.touch()
    return path


def processor(scheduler: Any = "synchronous", **options: Any) -> DaskProcessor:
    return DaskProcessor({"scheduler": scheduler}, tasks=3, **options)


@pytest.mark.parametrize("can_divide", [True, False])
@pytest.mark.parametrize("persist", [True, False])
@pytest.mark.parametrize("parallelism", [None, 1, 4, 10, 99])
@pytest.mark.parametrize("blocks", [0, 1, 10])
def test_results_come_in_the_order_of_the_blocks(log, blocks, parallelism, persist, can_divide):
    numbers = Numbers(0, blocks, log, can_divide)
    stage = processor(parallelism=parallelism, persist=persist).stage(numbers, same)
    for last in (False, False, True):
        assert list(stage.map(doubled, last=last)) == [2 * number for number in range(blocks)]


@pytest.mark.parametrize(("persist", "times"), [(True, 1), (False, 3)])
def test_persisted_partitions_are_read_once(log, persist, times):
    stage = processor(persist=persist).stage(Numbers(0, 10, log), same)
    for last in (False, False, True):
        list(stage.map(doubled, last=last))
    assert reads(log) == list(range(10)) * times


@pytest.mark.parametrize("can_divide", [True, False])
@pytest.mark.parametrize(("parallelism", "partitions"), [(1, 1), (4, 4), (10, 10), (99, 10)])
def test_parallelism_is_the_number_of_partitions(log, parallelism, partitions, can_divide):
    scheduler = Counting()
    stage = processor(scheduler, parallelism=parallelism).stage(Numbers(0, 10, log, can_divide), same)
    list(stage.map(doubled, last=True))
    assert scheduler.tasks.count("_mapped") == partitions


def test_without_parallelism_there_is_a_partition_for_each_task_and_none_is_large():
    assert [len(part) for part in processor().partitions(10)] == [3, 3, 4]
    assert [len(part) for part in processor().partitions(2)] == [1, 1]
    assert max(len(part) for part in processor().partitions(1000)) == 16


def test_a_stage_that_was_freed_is_read_again(log):
    stage = processor().stage(Numbers(0, 4, log), same)
    for _ in range(2):
        assert list(stage.map(doubled, last=True)) == [0, 2, 4, 6]
    assert reads(log) == [*range(4), *range(4)]


def test_the_error_of_the_first_block_that_fails_is_raised(log):
    with pytest.raises(Mistakes, match="row 3 is wrong") as caught:
        list(processor(parallelism=5).stage(Numbers(0, 10, log), mistaken).map(doubled))
    assert caught.value.problems == Mistakes.one("dataset", "row 3 is wrong").problems
    with pytest.raises(EnvironmentFailure, match="the disk is full"):
        list(processor().stage(Numbers(0, 10, log), same).map(failing))
    with pytest.raises(WorkerCrash, match="ZeroDivisionError"):
        list(processor().stage(Numbers(0, 10, log), same).map(crashing))


def test_a_task_that_is_lost_for_good_is_one_line(log):
    def losing(*_: Any, **__: Any) -> Any:
        raise ConnectionError("The worker died.\nIts log follows.")

    stage = replace(processor(losing), lost=(ConnectionError,)).stage(Numbers(0, 3, log), same)
    with pytest.raises(EnvironmentFailure, match=r"^a task of preprocessing was lost.*: The worker died\.$"):
        list(stage.map(doubled))


class OfRay(ConnectionError):
    """Like an error of Ray: its text begins with the name of the task, and `cause` is what went wrong."""

    cause = OSError("The disk is full.\nAdvice follows.")


def test_the_cause_of_a_lost_task_is_named_and_not_the_task(log):
    def losing(*_: Any, **__: Any) -> Any:
        raise OfRay("dask:_mapped-fd0e45cd (pid=7)\nA traceback follows.")

    stage = replace(processor(losing), lost=(ConnectionError,)).stage(Numbers(0, 3, log), same)
    with pytest.raises(EnvironmentFailure, match=r"^a task of preprocessing was lost.*: The disk is full\.$"):
        list(stage.map(doubled))
