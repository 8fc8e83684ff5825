"""The number of distinct values, exact and estimated."""

from __future__ import annotations

import numpy as np
import pytest

from trainwright_trainer.suggest.distinct import MOST_VALUES, Distinct


def of_blocks(*blocks: np.ndarray) -> Distinct:
    found = Distinct()
    for block in blocks:
        found.add(*np.unique(block, return_counts=True))
    return found


def test_few_values_are_counted():
    found = of_blocks(np.array(["a", "b", "a"], object), np.array(["b", "c"], object))
    assert found.counts == {"a": 2, "b": 2, "c": 1}
    assert found.number == 3


@pytest.mark.parametrize("number", [MOST_VALUES, MOST_VALUES + 1])
def test_the_counts_end_at_a_limit_and_the_number_does_not(number):
    found = of_blocks(np.arange(number))
    assert (found.counts is None) == (number > MOST_VALUES)
    assert found.number == number


@pytest.mark.parametrize("number", [20_000, 300_000])
def test_many_values_are_estimated_in_bounded_memory(number):
    values = np.array([f"value {one}" for one in range(number)], object)
    found = of_blocks(*np.array_split(values, 7), values[: number // 2])
    assert found.number == pytest.approx(number, rel=0.05)
    assert len(found._hashes) == 4_096


def test_the_order_of_blocks_does_not_count():
    parts = np.array_split(np.arange(50_000.0), 5)
    assert of_blocks(*parts).number == of_blocks(*reversed(parts)).number
