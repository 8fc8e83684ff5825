"""The best trial, and the line of a search without one."""

from __future__ import annotations

from dataclasses import replace

import pytest

from trainwright_api.problems import Mistakes
from trainwright_trainer.errors import EnvironmentFailure
from trainwright_trainer.search.result import best_of


def test_the_best_trial_has_the_best_score_and_did_not_fail(trial, objective):
    trials = [trial("0001", [0.6], "done"), trial("0002", [0.7], "stopped"), trial("0003", [0.9], "failed", "wrong")]
    assert best_of(trials, objective).id == "0002"


def test_if_all_trials_failed_the_most_frequent_line_is_the_error(trial, objective):
    lines = ["config.a: wrong", "config.b: wrong", "config.b: wrong"]
    trials = [trial(f"{number:04d}", [], "failed", line) for number, line in enumerate(lines, 1)]
    mistakes = [replace(one, end=replace(one.end, mistake=True)) for one in trials]
    line = "all 3 trials failed, 2 of them with: config.b: wrong"
    with pytest.raises(Mistakes, match=line):
        best_of(mistakes, objective)
    with pytest.raises(EnvironmentFailure, match=line):
        best_of([*mistakes[:2], trials[2]], objective)


def test_a_time_budget_without_a_score_is_a_mistake(trial, objective):
    with pytest.raises(Mistakes, match="time_budget_s: it is over before a trial has a score: raise it"):
        best_of([trial("0001")], objective)
