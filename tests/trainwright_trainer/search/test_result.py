"""The best trial, and the line of a search without one."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from trainwright_api.config.hyperopt import HyperoptConfig
from trainwright_api.problems import Mistakes
from trainwright_trainer.errors import EnvironmentFailure
from trainwright_trainer.search.log import SearchLog
from trainwright_trainer.search.result import best_of, summary_line
from trainwright_trainer.search.trial_run import TrialSetting
from trainwright_trainer.search.trials import stopped
from trainwright_trainer.tasks.run import run


def test_the_best_trial_has_the_best_score_and_did_not_fail(trial, objective):
    trials = [trial("0001", [0.6], "done"), trial("0002", [0.7], "stopped"), trial("0003", [0.9], "failed", "wrong")]
    assert best_of(trials, objective).id == "0002"


def test_a_trial_that_the_time_budget_has_stopped_is_not_shown_as_running(trial):
    running, done = trial("0001", [0.6, 0.7]), trial("0002", [0.8], "done")
    assert [stopped(running).state, stopped(done).state] == ["stopped", "done"]
    assert stopped(running).scores == running.scores


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


def test_a_metric_without_a_value_is_a_mistake(trial, objective):
    """Such as ROC-AUC of validation rows of one class. More time would not help."""
    with pytest.raises(Mistakes, match=r"validation late\.roc_auc has no value in any trial: there are no such rows"):
        best_of([trial("0001", [], "done"), trial("0002", [], "failed", "wrong")], objective)


def test_the_summary_has_the_score_of_the_model_beside_that_of_the_stopped_trial(trial, objective, storage, tmp_path):
    plain = {"attempt": 1, "seconds": 1.0, "rows_per_second": 1.0, "learning_rate": 0.1, "best": True}
    rounds = [
        {**plain, "epoch": at, "step": at, "scores": {"validation": {"late": {"roc_auc": score}}}}
        for at, score in enumerate([0.7, 0.75])
    ]
    storage.write("trials/0001/metrics.json", [json.dumps({"rounds": rounds, "end": None}).encode()])
    rate = {"space": "choice", "categories": [0.1]}
    plain_config = {"output_feature": "late", "metric": "roc_auc", "parameters": {"trainer.learning_rate": rate}}
    config = HyperoptConfig.model_validate(plain_config)
    setting = TrialSetting({}, "job", tmp_path / "out", None, objective, 1, run)
    completed = "0.7500 (0.7000 when the search stopped it; the"
    # None: the end of the time budget has stopped it.
    for kind, found in (("stopped", completed), (None, completed), ("replaced", completed), ("done", "0.7000 (the")):
        best = trial("0001", [0.7], kind)
        log = SearchLog(storage, [best, trial("0002", [0.6], "done")])
        line = summary_line(config, log, setting, best)
        assert f"best trial 0001: validation late.roc_auc {found} worst trial: 0.6000) · model" in line
