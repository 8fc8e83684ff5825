"""The score of a trial is that of the model which the trial would have."""

from __future__ import annotations

import math

from trainwright_api.config.hyperopt import HyperoptConfig
from trainwright_trainer.callbacks.events import Evaluated
from trainwright_trainer.search.objective import Objective
from trainwright_trainer.search.trials import ended, ranked


def round_(value: float, *, best: bool) -> Evaluated:
    return Evaluated(0, 1, 1.0, 1.0, 0.1, {"validation": {"late": {"roc_auc": value}}}, best)


def test_it_is_the_score_of_the_best_round_so_far_and_not_the_largest(objective):
    rounds = [round_(0.5, best=True), round_(0.9, best=False), round_(0.6, best=True), round_(0.8, best=False)]
    assert [objective.of_rounds(rounds[: n + 1]) for n in range(4)] == [0.5, 0.5, 0.6, 0.6]
    assert math.isnan(objective.of_rounds([]))


def test_a_missing_metric_and_null_are_nan(objective):
    assert math.isnan(objective.of_scores({}))
    assert math.isnan(objective.of_scores({"late": {"roc_auc": None}}))


def test_the_section_names_it():
    parameters = {"trainer.epochs": {"space": "choice", "categories": [1]}}
    given = {"output_feature": "y", "metric": "r2", "goal": "maximize", "split": "training", "parameters": parameters}
    found = Objective.of(HyperoptConfig.model_validate(given))
    assert found == Objective("y", "r2", "train", maximize=True)
    assert (found.name, found.mode) == ("train y.r2", "max")


def test_trials_are_ranked_by_the_goal(trial):
    trials = [
        trial("0001", [0.5], "done"),
        trial("0002", [0.9, 0.7], "stopped"),
        trial("0003", [0.95], "failed"),
        trial("0004"),
        trial("0005", [0.7]),
    ]
    most, least = (Objective("late", "m", "validation", maximize=maximize) for maximize in (True, False))
    assert [one.id for one in ranked(trials, most)] == ["0002", "0005", "0001"]
    assert [one.id for one in ranked(trials, least)] == ["0001", "0002", "0005"]
    assert ended(trials) == 3
