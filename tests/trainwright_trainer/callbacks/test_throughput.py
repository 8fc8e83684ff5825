from __future__ import annotations

import math
from collections.abc import Callable

import pytest

from trainwright_trainer.callbacks.events import Started, Stepped
from trainwright_trainer.callbacks.throughput import Throughput

Start = Callable[..., Started]
Step = Callable[..., Stepped]


def test_nothing_is_known_at_first(started: Start, stepped: Step) -> None:
    throughput = Throughput(started(), 0.0)
    assert math.isnan(throughput.rows_per_second)
    assert math.isnan(throughput.left_in_all(stepped(0, 1024), 1.0))


def test_speed_is_that_of_the_last_seconds(started: Start, stepped: Step) -> None:
    throughput = Throughput(started(), 0.0)
    for second in range(20):
        throughput.saw(stepped(0, 1000 * second if second < 10 else 10_000 + 5000 * (second - 10)), float(second))
    assert throughput.rows_per_second == pytest.approx(5000, rel=0.01)


def test_time_left_counts_the_epoch_and_the_rest(started: Start, stepped: Step) -> None:
    throughput = Throughput(started(epochs=2), 0.0)
    throughput.saw(stepped(0, 0), 0.0)
    here = stepped(0, 117_856)
    throughput.saw(here, 2.0)
    assert throughput.left_in_epoch(here) == pytest.approx(2.0)
    assert throughput.left_in_all(here, 2.0) == pytest.approx(6.0)


def test_time_left_ends_where_train_steps_end(started: Start, stepped: Step) -> None:
    throughput = Throughput(started(epochs=1, total_steps=100), 0.0)
    throughput.saw(stepped(0, 0), 0.0)
    here = stepped(0, 51_200)
    throughput.saw(here, 5.0)
    assert throughput.left_in_epoch(here) == throughput.left_in_all(here, 5.0) == pytest.approx(5.0)


def test_evaluation_slows_the_whole_but_not_the_steps(started: Start, stepped: Step) -> None:
    throughput = Throughput(started(epochs=2), 0.0)
    throughput.saw(stepped(0, 0), 0.0)
    throughput.saw(stepped(0, 235_712), 1.0)
    throughput.paused(235_712.0)
    here = stepped(1, 0)
    throughput.saw(here, 2.0)
    assert throughput.rows_per_second == 235_712.0
    assert throughput.left_in_epoch(here) == pytest.approx(1.0)
    assert throughput.left_in_all(here, 2.0) == pytest.approx(2.0)


def test_a_resumed_run_counts_its_own_rows_alone(started: Start, stepped: Step) -> None:
    throughput = Throughput(started(epochs=3, epoch=2), 0.0)
    throughput.saw(stepped(2, 100_000), 10.0)
    here = stepped(2, 200_000)
    throughput.saw(here, 11.0)
    assert throughput.left_in_all(here, 11.0) == pytest.approx(0.35712)
