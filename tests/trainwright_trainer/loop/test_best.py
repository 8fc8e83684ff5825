from __future__ import annotations

import math

from trainwright_trainer.loop.best import Best
from trainwright_trainer.loop.monitor import MonitoredMetric

LOSS = MonitoredMetric("late", "loss", "min")


def epochs_of_the_best(values: list[float], tolerance: float) -> list[int]:
    """The best epoch so far, after each round."""
    best, found = Best(LOSS, 3, tolerance), []
    for epoch, value in enumerate(values):
        best.observe(value, epoch, epoch)
        found.append(best.epoch)
    return found


def test_without_a_tolerance_the_least_is_the_best() -> None:
    assert epochs_of_the_best([3.0, 1.0, 1.0, 2.0, 0.5], 0.0) == [0, 1, 1, 1, 4]


def test_of_rounds_that_only_chance_distinguishes_the_last_is_the_best() -> None:
    assert epochs_of_the_best([3.0, 1.0, 1.1, 1.3, 1.15], 0.2) == [0, 1, 2, 2, 4]


def test_the_tolerance_counts_from_the_least_so_a_slow_decline_is_seen() -> None:
    assert epochs_of_the_best([1.0, 1.1, 1.2, 1.3, 1.4], 0.2) == [0, 1, 2, 2, 2]


def test_near_zero_it_is_a_part_of_a_tenth_of_the_first_loss() -> None:
    assert epochs_of_the_best([1.0, 0.001, 0.015, 0.05], 0.2) == [0, 1, 2, 2]


def test_a_loss_that_is_no_number_is_never_as_good() -> None:
    assert epochs_of_the_best([1.0, math.nan], 0.2) == [0, 0]


def test_rounds_as_good_by_chance_do_not_count_as_rounds_without_improvement() -> None:
    best = Best(LOSS, 2, 0.2)
    for epoch, value in enumerate([1.0, 1.1, 1.1, 1.1]):
        best.observe(value, epoch, epoch)
    assert not best.exhausted
    best.observe(2.0, 4, 4)
    best.observe(2.0, 5, 5)
    assert best.exhausted


def test_it_goes_on_from_its_state() -> None:
    best = Best(LOSS, 3, 0.2)
    best.observe(1.0, 1, 0)
    best.observe(0.001, 2, 1)
    other = Best(LOSS, 3, 0.2)
    other.load(best.state(), None)
    assert other.observe(0.015, 3, 2)
