"""The conditions under which a search closes. tests/trainwright_trainer/tasks/test_hyperopt.py runs whole searches."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest
from ray.exceptions import WorkerCrashedError

from trainwright_api.config.hyperopt import HyperoptConfig
from trainwright_trainer.errors import EnvironmentFailure
from trainwright_trainer.runtime.signals import StopRequest
from trainwright_trainer.search.ray_tune import tuner
from trainwright_trainer.search.ray_tune.tuner import Search, finish

CONFIG = HyperoptConfig.model_validate(
    {
        "parameters": {"trainer.learning_rate": {"space": "uniform", "lower": 0.1, "upper": 1}},
        "executor": {"time_budget_s": 60},
    }
)


@pytest.fixture
def search(log: Any, storage: Any, monkeypatch: pytest.MonkeyPatch) -> Search:
    monkeypatch.setattr(tuner, "opened", lambda: "another channel")
    nothing: Any = None
    return Search(CONFIG, nothing, storage, log, 1, StopRequest(), nothing, nothing, nothing, nothing)


def test_a_search_closes_after_its_time_and_its_best_trial_is_completed_nevertheless(search, clock):
    clock.now = 59
    assert not search.is_closing()
    clock.now = 60
    assert search.is_closing()
    last = search.without_limit()
    assert not last.is_closing()
    assert last.channel == "another channel"  # that of the search has told its trials to stop
    search.stop.ask("SIGTERM")
    assert last.is_closing()


def test_a_lost_process_of_the_best_trial_is_one_line(search, monkeypatch):
    def get(_: Any) -> None:
        raise WorkerCrashedError

    task = SimpleNamespace(remote=lambda *_: "task")
    monkeypatch.setattr(tuner.ray, "remote", lambda **_: lambda _: task)
    monkeypatch.setattr(tuner.ray, "wait", lambda waiting, **_: (waiting, []))
    monkeypatch.setattr(tuner.ray, "get", get)
    search = replace(search, setting=SimpleNamespace(backend="local"))
    with pytest.raises(EnvironmentFailure, match="the process of trial 0001 was lost, and no retry is left"):
        finish(search, SimpleNamespace(id="0001"))
