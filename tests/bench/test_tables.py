from __future__ import annotations

import pytest
from bench.tables.__main__ import behind_in_errors


def test_a_difference_is_measured_in_its_own_standard_errors() -> None:
    # Differences 1, 3: mean 2, standard deviation √2, of two splits: an error of 1.
    assert behind_in_errors([1.0, 1.0], [2.0, 4.0]) == pytest.approx(2.0)
    assert behind_in_errors([2.0, 4.0], [1.0, 1.0]) == pytest.approx(-2.0)


def test_equal_scores_are_not_behind() -> None:
    assert behind_in_errors([0.5, 0.7], [0.5, 0.7]) == 0.0


def test_to_be_behind_by_the_same_on_every_split_is_to_be_behind() -> None:
    assert behind_in_errors([0.5, 0.75], [0.75, 1.0]) == float("inf")
