"""The share of the variance that a parameter explains."""

from __future__ import annotations

import pytest

from trainwright_trainer.search.importance import FEWEST, importance


def test_the_parameter_that_decides_explains_all(trial):
    trials = [trial(f"{n:04d}", [float(n % 2)], "done", decides=n % 2, noise=n // 2 % 3) for n in range(1, 13)]
    found = importance(trials)
    assert list(found) == ["decides", "noise"]
    assert found["decides"] == pytest.approx(1.0)
    assert found["noise"] == 0.0


def test_numbers_are_divided_into_four_groups(trial):
    trials = [trial(f"{n:04d}", [float(n > 6)], "done", rate=n / 7) for n in range(1, 13)]
    assert importance(trials)["rate"] == pytest.approx(1.0)


def test_words_and_lists_are_their_own_groups(trial):
    trials = [trial(f"{n:04d}", [float(n % 2)], "done", size=[[8], [16]][n % 2]) for n in range(1, 13)]
    assert importance(trials)["size"] == pytest.approx(1.0)


def test_without_variation_or_with_few_trials_nothing_is_said(trial):
    assert importance([trial(f"{n:04d}", [1.0], "done", rate=n) for n in range(1, 20)]) == {}
    assert importance([trial(f"{n:04d}", [float(n)], "done", rate=n % 2) for n in range(1, FEWEST)]) == {}
    same = [trial(f"{n:04d}", [float(n)], "done", rate=1) for n in range(1, 20)]
    assert importance(same) == {}
