"""A trial in its process, without Ray: its rounds are reported, and its end is written for the driver."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from trainwright_trainer.callbacks.console import Console
from trainwright_trainer.job.options import Options
from trainwright_trainer.search.objective import Objective
from trainwright_trainer.search.parents import kept
from trainwright_trainer.search.trial_run import TrialSetting, TrialStop, read_end, run_trial
from trainwright_trainer.search.trials import Origin
from trainwright_trainer.storage.local import FolderStorage
from trainwright_trainer.tasks.run import run


class Reports:
    """The search's side: it stops the trial after `until` results."""

    def __init__(self, until: int = 99) -> None:
        self.results: list[Mapping[str, Any]] = []
        self._until = until

    def __call__(self, result: Mapping[str, Any]) -> bool:
        self.results.append(result)
        return len(self.results) < self._until

    @property
    def rounds(self) -> list[tuple[int, int]]:
        return [(one["round"], one["epoch"]) for one in self.results]

    @property
    def scores(self) -> list[float]:
        return [one["score"] for one in self.results]


@pytest.fixture
def setting(workplace: Any) -> Any:
    def new(split: str = "validation", epochs: int = 3) -> TrialSetting:
        job = json.loads((workplace.folder / workplace.job()).read_text())
        job["config"]["trainer"] = {"epochs": epochs, "batch_size": 32}
        resource = {
            "apiVersion": "trainwright.dev/v1alpha1",
            "kind": "TrainingJob",
            "spec": {**job, "task": "hyperopt"},
        }
        return TrialSetting(resource, "job", Path("out"), None, Objective("late", "roc_auc", split, True), 1, run)

    return new


RATE = {"trainer.learning_rate": 0.01}


def metrics() -> Any:
    return json.loads(Path("out/trials/0001/metrics.json").read_text())


def end() -> Any:
    return read_end(FolderStorage(Path("out")), "0001")


def test_each_round_is_reported_with_the_score_of_the_best_round(setting):
    reports = Reports()
    assert run_trial(setting(), "0001", RATE, reports, 0, TrialStop())
    assert reports.rounds == [(1, 0), (2, 1), (3, 2)]
    rows, best = metrics()["rounds"], []
    for row in rows:
        best.append(row if row["best"] else best[-1])
    assert reports.scores == [row["scores"]["validation"]["late"]["roc_auc"] for row in best]
    assert end().kind == "done"
    assert "learning_rate: 0.01" in Path("out/trials/0001/job.yaml").read_text()


def test_a_stopped_trial_writes_its_checkpoint_and_goes_on_to_the_same_scores(setting):
    whole = Reports()
    run_trial(setting(), "0002", RATE, whole, 0, TrialStop())
    first = Reports(until=2)
    assert not run_trial(setting(), "0001", RATE, first, 0, TrialStop())
    assert end() is None
    again = Reports()
    assert run_trial(setting(), "0001", RATE, again, 0, TrialStop())
    assert again.scores == whole.scores
    weights = [Path(f"out/trials/{name}/model/weights.safetensors").read_bytes() for name in ("0001", "0002")]
    assert weights[0] == weights[1]


def test_rounds_that_the_search_knows_are_not_reported_again(setting):
    run_trial(setting(), "0001", RATE, Reports(until=2), 0, TrialStop())
    again = Reports()
    run_trial(setting(), "0001", RATE, again, 2, TrialStop())
    assert again.rounds == [(3, 2)]


def test_a_run_that_was_done_already_reports_its_rounds(setting):
    first, again = Reports(), Reports()
    run_trial(setting(), "0001", RATE, first, 0, TrialStop())
    assert run_trial(setting(), "0001", RATE, again, 0, TrialStop())
    assert again.results == first.results
    assert len(list(Path("out/trials/0001/attempts").iterdir())) == 1


def test_a_trial_begins_with_the_checkpoint_of_another_and_counts_its_rounds(setting):
    """Also when it is stopped and goes on. Its file alone gives its weights."""
    run_trial(setting(), "0001", RATE, Reports(until=2), 0, TrialStop())
    runs = [FolderStorage(Path("out/trials/0001")), FolderStorage(Path("out/search/parents/0001"))]
    name = kept(*runs, step=1)
    origin, faster = Origin("0001", str(name), "0002", 1), {"trainer.learning_rate": 0.1}
    first, again = Reports(until=2), Reports()
    assert not run_trial(setting(epochs=5), "0003", faster, first, 0, TrialStop(), origin)
    assert run_trial(setting(epochs=5), "0003", faster, again, 0, TrialStop(), origin)
    assert name is not None
    steps = [row["step"] for row in metrics()["rounds"]]
    done = steps.index(name.step) + 1
    assert [number for number, _ in again.rounds] == list(range(done + 1, 6))
    assert first.results == again.results[:2]
    assert [one["is_last"] for one in again.results] == [False] * (4 - done) + [True]
    run(None, Path("out/trials/0003/job.yaml"), Options(output="alone", threads=1), console=Console(), stop=TrialStop())
    weights = [Path(f"{place}/model/weights.safetensors").read_bytes() for place in ("alone", "out/trials/0003")]
    assert weights[0] == weights[1]


def test_the_test_score_is_reported_once_at_the_end(setting):
    for _ in range(2):
        reports = Reports()
        run_trial(setting("test"), "0001", RATE, reports, 0, TrialStop())
        assert reports.scores == [metrics()["end"]["test"]["late"]["roc_auc"]]


def test_a_mistake_is_the_end_of_the_trial_and_no_exception(setting):
    reports = Reports()
    assert run_trial(setting(), "0001", {"combiner.num_steps": 3}, reports, 0, TrialStop())
    assert reports.results == []
    assert end().kind == "mistake"
    assert end().line.startswith("config.combiner.num_steps: unknown")
