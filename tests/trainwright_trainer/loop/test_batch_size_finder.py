from __future__ import annotations

import random
import time
from collections import Counter

import pytest
import torch

from trainwright_trainer.errors import EnvironmentFailure
from trainwright_trainer.loop import batch_size_finder
from trainwright_trainer.loop.batch_size_finder import (
    CPU,
    candidates,
    fastest_batch_size,
    nearly_fastest,
    search,
    training_step,
)
from trainwright_trainer.runtime.oom import out_of_memory
from trainwright_trainer.runtime.threads import computing_with

SIZES = candidates(10_000, 2**40)


class Steps:
    """Steps that take `step + row × rows` seconds on an idle machine. `tried` counts the steps of each size."""

    def __init__(self, step: float = 1e-3, row: float = 1e-5) -> None:
        self.step, self.row, self.tried = step, row, Counter[int]()

    def __call__(self, rows: int) -> float:
        self.tried[rows] += 1
        return self.step + self.row * rows


@pytest.mark.parametrize(
    ("rows", "limit", "on_cpu", "expected"),
    [
        (10_000, 2**40, True, [16, 32, 64, 128, 256, 512, 1024]),
        (10_000, 2**40, False, [16, 32, 64, 128, 256, 512, 1024]),
        (2**40, 2**40, True, [16, 32, 64, 128, 256, 512, 1024]),
        (100_000, 2**40, False, [2**power for power in range(4, 15)]),
        (100_000, 200, True, [16, 32, 64, 128]),
        (100_000, 10, True, [8]),
        (100, 2**40, True, [8, 16]),
        (20, 2**40, True, [2, 4]),
        (9, 2**40, True, [1]),
        (3, 2**40, True, [1]),
    ],
)
def test_sizes_lie_between_an_eighth_or_16_and_a_fifth_of_the_rows(rows, limit, on_cpu, expected):
    assert candidates(rows, limit, on_cpu=on_cpu) == expected


def test_the_smallest_size_that_is_nearly_as_fast():
    assert nearly_fastest({16: 100.0}) == 16
    assert nearly_fastest({16: 100.0, 32: 150.0}) == 32
    assert nearly_fastest({16: 100.0, 32: 120.0}) == 16
    assert nearly_fastest({16: 100.0, 32: 90.0}) == 16
    assert search(Steps(step=0.0), SIZES).size == 16
    assert search(Steps(row=0.0), SIZES).size == 1024
    assert search(Steps(step=1e-3, row=1e-5), SIZES).size == 256  # 100 rows take as long as an empty step


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("factor", [0.6, 1.4])
def test_one_wrong_speed_moves_it_by_one_doubling_at_most(size, factor):
    speeds = dict(search(Steps(), SIZES).speeds)
    assert nearly_fastest({**speeds, size: speeds[size] * factor}) in (128, 256, 512)


def test_one_slowdown_does_not_end_it_and_two_in_a_row_do():
    taken = {16: 1.0, 32: 2.1, 64: 3.0, 128: 6.1, 256: 12.3, 512: 1.0, 1024: 1.0}
    found = search(lambda rows: taken[rows] / 1e6, SIZES)
    assert list(found.speeds) == [16, 32, 64, 128, 256]
    assert found.size == 32


def test_the_first_steps_of_a_size_do_not_count():
    steps = Steps()

    def cold(rows: int) -> float:
        return steps(rows) * (10.0 if steps.tried[rows] <= 2 else 1.0)

    assert search(cold, SIZES) == search(Steps(), SIZES)


@pytest.mark.parametrize("cost", [(1e-3, 1e-6), (1e-3, 5e-6), (1e-3, 1e-5), (2e-3, 1e-4), (1e-4, 1e-5)])
def test_busy_neighbours_move_it_by_one_doubling_at_most(cost):
    """Each step takes up to a fifth longer, one in five is interrupted, and 30 steps in a row run at half speed."""

    def busy(seed: int) -> int:
        draws, steps = random.Random(seed), Steps(*cost)
        slow = draws.randrange(100)

        def seconds(rows: int) -> float:
            own = steps(rows) * draws.uniform(1.0, 1.2)
            own += draws.expovariate(100.0) if draws.random() < 0.2 else 0.0
            return own * (2.0 if slow <= steps.tried.total() < slow + 30 else 1.0)

        return search(seconds, SIZES).size

    found = [busy(seed) for seed in range(200)]
    quiet = search(Steps(*cost), SIZES).size
    assert max(found) <= 2 * min(found)
    assert min(found) <= quiet <= max(found)


@pytest.mark.parametrize("row", [1e-6, 1e-2, 10.0])
def test_long_steps_are_made_less_often(row):
    steps = Steps(row=row)
    search(steps, SIZES)
    for rows, times in steps.tried.items():
        taken = steps(rows)
        assert times == 2 if taken > 2 else times * taken <= 6


@pytest.mark.parametrize(
    "error",
    [
        torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 2 GiB"),
        RuntimeError("[enforce fail] DefaultCPUAllocator: can't allocate memory: you tried to allocate 9 bytes"),
        MemoryError(),
    ],
)
@pytest.mark.parametrize(("room", "expected"), [(1024, 1024), (100, 64), (16, 16), (7, 4), (1, 1)])
def test_sizes_without_memory_are_passed_over(error, room, expected):
    def seconds(rows: int) -> float:
        if rows > room:
            raise error
        return 1e-3

    assert out_of_memory(error)
    assert search(seconds, SIZES).size == expected


@pytest.mark.parametrize(("left", "expected"), [(8, 8), (400, 128)])
def test_memory_may_be_taken_away_while_it_is_measured(left, expected):
    steps = Steps()

    def seconds(rows: int) -> float:
        if steps.tried.total() > 60 and rows > left:
            raise MemoryError
        return steps(rows)

    assert search(seconds, SIZES).size == expected


def test_no_memory_for_a_single_row():
    def seconds(_: int) -> float:
        raise MemoryError

    with pytest.raises(EnvironmentFailure, match="a single row does not fit"):
        search(seconds, SIZES)


def test_another_error_is_not_swallowed():
    def seconds(_: int) -> float:
        raise RuntimeError("shapes do not match")

    with pytest.raises(RuntimeError, match="shapes"):
        search(seconds, SIZES)


def test_steps_that_are_interrupted_do_not_count():
    steps = Steps()

    def interrupted(rows: int) -> float:
        return steps(rows) * (5.0 if steps.tried.total() % 3 == 0 else 1.0)

    assert search(interrupted, SIZES).speeds == pytest.approx(search(Steps(), SIZES).speeds)


def test_the_search_touches_neither_the_model_nor_what_comes_after(job):
    one, other = job(combiner={"norm": "batch", "dropout": 0.2}), job(combiner={"norm": "batch", "dropout": 0.2})
    before = one.weights()
    looks, threads = iter(range(10_000)), torch.get_num_threads()
    found = fastest_batch_size(
        one.config.trainer,
        one.model,
        one.splits["train"],
        [1, 2, 4, 8, 16],
        clock=lambda: float(next(looks)),
    )
    assert found.size == 16  # every step takes one second on this clock, so the largest is the fastest
    assert torch.get_num_threads() == threads
    assert all(torch.equal(value, before[name]) for name, value in one.weights().items())
    assert all(parameter.grad is None for parameter in one.model.parameters())
    one.train()
    other.train()
    assert all(torch.equal(value, other.weights()[name]) for name, value in one.weights().items())


def test_one_thread_computes_its_steps(job, monkeypatch):
    one, seen = job(), []
    step = training_step(one.config.trainer, one.model, one.splits["train"], CPU, 4)

    def watched(rows: int) -> None:
        seen.append(torch.get_num_threads())
        step(rows)

    monkeypatch.setattr(batch_size_finder, "training_step", lambda *_: watched)
    with computing_with(3):
        fastest_batch_size(one.config.trainer, one.model, one.splits["train"], [1, 2, 4])
    assert set(seen) == {1}


def test_other_processes_do_not_count_on_a_cpu(job, monkeypatch):
    """Waiting takes no CPU time. Here each step of the larger size sleeps for ten milliseconds."""
    one = job()
    step = training_step(one.config.trainer, one.model, one.splits["train"], CPU, 16)

    def waiting(rows: int) -> None:
        if rows > 1:
            time.sleep(0.01)
        step(rows)

    monkeypatch.setattr(batch_size_finder, "training_step", lambda *_: waiting)
    found = fastest_batch_size(one.config.trainer, one.model, one.splits["train"], [1, 16])
    assert found.size == 16
