"""The decisions of a population: which trials are due, which are the worst and the best, and who may run."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from trainwright_trainer.search import population
from trainwright_trainer.search.objective import Objective
from trainwright_trainer.search.population import Rules, common_generation, exchanges
from trainwright_trainer.search.trials import End, Origin, Score, Trial

RULES = Rules("round", 2, 0, 0.25, False, 4, Objective("late", "roc_auc", "validation", maximize=True))
TOGETHER = replace(RULES, together=True)


def trial(number: int, rounds: int = 0, latest: float | None = 0.0, first: int = 0, **more: Any) -> Trial:
    """A trial whose scores have the orders 100, 200, … plus its number."""
    scores = [
        Score(100 * round_ + number, round_, round_, 5 * round_, 0.5, float(round_), 0.0, latest)
        for round_ in range(first + 1, rounds + 1)
    ]
    return Trial(f"{number:04d}", {}, {}, number, 0.0, tuple(scores), **more)


def ids(trials: Any) -> list[int]:
    return [int(one.id) for one in trials]


def may_run(trials: list[Trial], rules: Rules) -> list[Trial]:
    return population.may_run(trials, rules, exchanges(trials, rules))


def pairs(trials: list[Trial], rules: Rules) -> list[tuple[int, list[int]]]:
    return [(int(loser.id), ids(winners)) for loser, winners in exchanges(trials, rules)]


@pytest.mark.parametrize(
    ("interval", "burn_in", "expected"),
    [(1, 0, [1, 2, 3, 4, 5]), (2, 0, [0, 1, 1, 2, 2]), (2, 3, [0, 0, 1, 1, 2]), (1.5, 0, [0, 1, 2, 2, 3])],
)
def test_perturbations_are_due_at_equal_intervals_after_the_burn_in(
    interval: float, burn_in: float, expected: list[int]
) -> None:
    rules = replace(RULES, interval=interval, burn_in=burn_in)
    assert [rules.generation_of(score) for score in trial(1, 5).scores] == expected


def test_the_worst_trial_at_its_perturbation_goes_on_from_one_of_the_best() -> None:
    trials = [trial(1, 2, 0.9), trial(2, 2, 0.6), trial(3, 2, 0.5), trial(4, 2, 0.1)]
    assert pairs(trials, RULES) == [(4, [1])]
    assert pairs(trials, replace(RULES, fraction=0.5)) == [(3, [1, 2]), (4, [1, 2])]
    assert pairs(trials, replace(RULES, fraction=0)) == []


def test_the_latest_score_decides_and_not_the_best() -> None:
    """The checkpoint has the weights of the latest round. No score is the worst."""
    assert all(score.value == 0.5 for score in trial(1, 2).scores)
    assert pairs([trial(1, 2, 0.1), trial(2, 2, 0.9)], RULES) == [(1, [2])]
    assert pairs([trial(1, 2, 0.9), trial(2, 2, None)], RULES) == [(2, [1])]


def test_a_decision_does_not_see_what_happens_after_it() -> None:
    before = [trial(1, 2, 0.9), trial(2, 2, 0.1)]
    after = [replace(before[0], scores=(*before[0].scores, Score(999, 3, 3, 15, 0.5, 3.0, 0.0, 0.0))), before[1]]
    assert pairs(after, RULES) == pairs(before, RULES) == [(2, [1])]


def test_between_perturbations_nothing_is_decided() -> None:
    assert pairs([trial(1, 3, 0.9), trial(2, 3, 0.1)], RULES) == []


def last(one: Trial) -> Trial:
    return replace(one, scores=(*one.scores[:-1], replace(one.scores[-1], is_last=True)))


def test_a_trial_without_a_further_step_is_neither_replaced_nor_copied() -> None:
    assert pairs([trial(1, 2, 0.9), last(trial(2, 2, 0.1))], RULES) == []
    assert pairs([last(trial(1, 2, 0.9)), trial(2, 2, 0.1)], RULES) == []
    rules = replace(TOGETHER, members=3)
    trials = [trial(1, 2, 0.9), trial(2, 2, 0.5), trial(3, 2, 0.1)]
    assert pairs([*trials[:2], last(trials[2])], rules) == [(2, [1])]
    assert pairs([last(trials[0]), *trials[1:]], rules) == [(3, [2])]


def test_a_trial_that_is_replaced_or_has_ended_is_gone() -> None:
    child = trial(5, 4, 0.8, first=2, origin=Origin("0001", "0000000010-1", "0004", 1))
    trials = [trial(1, 4, 0.9), trial(2, 4, 0.6, end=End(999, "done", 0.0)), trial(3, 4, 0.5), trial(4, 2, 0.1), child]
    assert ids(may_run(trials, RULES)) == [1, 5]
    assert pairs(trials, RULES) == [(3, [1])]


def test_the_least_trained_trial_comes_first() -> None:
    assert ids(may_run([trial(1, 4), trial(2, 3), trial(3, 1), trial(4)], replace(RULES, fraction=0))) == [3, 4, 2, 1]


def test_trials_that_wait_for_each_other_are_compared_when_all_have_arrived() -> None:
    trials = [trial(1, 2, 0.9), trial(2, 2, 0.1), trial(3, 2, 0.5), trial(4, 1, 0.4)]
    assert (pairs(trials, TOGETHER), ids(may_run(trials, TOGETHER))) == ([], [4])
    all_there = [*trials[:3], trial(4, 2, 0.4)]
    assert (pairs(all_there, TOGETHER), ids(may_run(all_there, TOGETHER))) == ([(2, [1])], [1, 3, 4])
    ended = [*trials[:3], replace(trials[3], end=End(999, "failed", 0.0))]
    assert pairs(ended, TOGETHER) == [(2, [1])]


def test_before_all_members_have_begun_nobody_goes_on() -> None:
    three = [trial(1, 2), trial(2, 2), trial(3, 2)]
    assert common_generation(three, TOGETHER) == 0
    assert common_generation([*three, trial(4, 2)], TOGETHER) == 1
