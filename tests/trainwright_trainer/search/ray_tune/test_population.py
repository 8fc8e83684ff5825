"""A population on a simulated Tune: the turns of its trials, and the same decisions after a kill at any event."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from trainwright_api.config.hyperopt import HyperoptConfig
from trainwright_trainer.errors import Outcome
from trainwright_trainer.rundir.layout import CheckpointName
from trainwright_trainer.search.log import SearchLog
from trainwright_trainer.search.objective import Objective
from trainwright_trainer.search.population import Rules
from trainwright_trainer.search.ray_tune.mutations import perturbed
from trainwright_trainer.search.ray_tune.population import Population, PopulationScheduler, PopulationSearcher
from trainwright_trainer.search.ray_tune.searchers import searcher_of
from trainwright_trainer.search.ray_tune.spaces import decoded
from trainwright_trainer.storage.local import FolderStorage

SPACE = {"rate": {"space": "uniform", "lower": 0.0, "upper": 1.0}}
PBT = {"type": "pbt", "hyperparam_mutations": SPACE}
SEARCH = HyperoptConfig.model_validate({"parameters": SPACE, "executor": {"num_samples": 4, "scheduler": PBT}})
LAST_ROUND = 8
RULES = Rules("round", 2, 0, 0.25, False, 4, Objective("late", "roc_auc", "validation", maximize=True))
TOGETHER = replace(RULES, together=True)


class Killed(Exception):
    """The driver was killed."""


@dataclass
class Disk:
    """All that survives a kill: the log, and for each trial its trained rounds and its scores by round."""

    folder: Path
    rounds: dict[str, int] = field(default_factory=dict)
    scores: dict[tuple[str, int], float] = field(default_factory=dict)
    ends: dict[str, Outcome] = field(default_factory=dict)


@dataclass(eq=False)
class FakeTrial:
    """A trial of Tune."""

    trial_id: str
    config: dict[str, Any]
    status: str = "PENDING"
    sent: int = 0

    @property
    def name(self) -> str:
        return str(self.config["trial"]["name"])


class Driver:
    """Tune with the classes under test. `dies(n)`: whether it is killed after its event `n`."""

    def __init__(self, disk: Disk, rules: Rules, concurrent: int, dies: Callable[[int], bool]) -> None:
        self.disk, self.concurrent, self._dies, self._events = disk, concurrent, dies, 0
        self.log = SearchLog.read(FolderStorage(disk.folder))
        pbt: Any = SEARCH.executor.scheduler
        members = Population(
            self.log,
            rules,
            seed=1,
            concurrent=concurrent,
            kept=self._kept,
            perturb=lambda values, draws: perturbed(values, pbt, draws),
        )
        named = {"decode": partial(decoded, SEARCH.parameters), "end_of": disk.ends.get, "most": rules.members}
        self.searcher = PopulationSearcher(
            members,
            searcher_of(SEARCH, "max", 1),
            "max",
            self.log,
            **named,
            saw=lambda *_: None,
            is_closing=lambda: False,
        )
        self.scheduler = PopulationScheduler(members, self.searcher, lambda: False)
        self.trials: list[FakeTrial] = []
        self.most_running = 0
        self.log.listen(lambda _: self._event())

    def _event(self) -> None:
        self._events += 1
        if self._dies(self._events):
            raise Killed

    def _kept(self, name: str, step: int) -> CheckpointName | None:
        return CheckpointName(step, 1) if self.disk.rounds.get(name, 0) >= step else None

    def get_trials(self) -> list[FakeTrial]:
        return self.trials

    def stop_trial(self, trial: FakeTrial) -> None:
        trial.status = "TERMINATED"
        self.searcher.on_trial_complete(trial.trial_id)

    def run(self) -> None:
        for turn in range(1000):
            found = self.searcher.suggest(f"t{turn}")
            if found == "FINISHED":
                return
            if found is not None:
                self.trials.append(FakeTrial(f"t{turn}", found))
            chosen: Any = self.scheduler.choose_trial_to_run(self)
            if chosen is not None:
                chosen.status = "RUNNING"
            running = [trial for trial in self.trials if trial.status == "RUNNING"]
            self.most_running = max(self.most_running, len(running))
            for trial in running:
                self._train(trial)
        raise AssertionError("the search does not end")

    def _train(self, trial: FakeTrial) -> None:
        """One round of a trial: one that is on the disk, or the next one."""
        begin = self._begin(trial.name)
        number = max(trial.sent, begin) + 1
        score = self._score(trial.name, number)
        self.disk.rounds[trial.name] = max(number, self.disk.rounds.get(trial.name, 0))
        result = {"score": score, "round": number, "epoch": number, "step": number, "seconds": float(number)}
        is_last = number == LAST_ROUND
        given = {**result, "latest": score, "is_last": is_last}
        decision = self.scheduler.on_trial_result(self, trial, given)
        trial.sent = number
        if decision == "STOP":
            self.stop_trial(trial)
        elif decision == "PAUSE":
            trial.status = "PAUSED"
        elif is_last:
            self.disk.ends[trial.name] = Outcome("done", "")
            trial.status = "TERMINATED"
            self.searcher.on_trial_complete(trial.trial_id)

    def _begin(self, name: str) -> int:
        origin = self.log.trial(name).origin
        return 0 if origin is None else int(origin.checkpoint.partition("-")[0])

    def _score(self, name: str, number: int) -> float:
        """The sum of the rates of all rounds of the chain: the larger the rate, the better."""
        if number == 0:
            return 0.0
        trial = self.log.trial(name)
        if trial.origin is not None and number == self._begin(name):
            return self._score(trial.origin.trial, number)
        return self._score(name, number - 1) + float(trial.values["rate"])


def searched(folder: Path, rules: Rules, kill: int | None = None, concurrent: int = 1) -> Driver:
    """A whole search. With `kill`, each driver is killed after so many events."""
    SearchLog.begin(FolderStorage(folder), {"name": "x", "job": {}})
    disk = Disk(folder)
    for _ in range(200):
        driver = Driver(disk, rules, concurrent, lambda event: event == kill)
        try:
            driver.run()
        except Killed:
            continue
        return driver
    raise AssertionError("the search makes no progress")


def facts(driver: Driver) -> list[Any]:
    return [
        (one.id, one.values, one.origin, [(score.round, score.value) for score in one.scores], one.state)
        for one in driver.log.trials
    ]


@pytest.mark.parametrize("rules", [RULES, TOGETHER], ids=["alone", "together"])
def test_the_worst_trials_go_on_from_the_best(tmp_path: Path, rules: Rules) -> None:
    driver = searched(tmp_path, rules)
    trials = {trial.id: trial for trial in driver.log.trials}
    children = [trial for trial in trials.values() if trial.origin is not None]
    assert children
    for child in children:
        assert child.origin is not None
        assert trials[child.origin.replaces].state == "replaced"
        assert trials[child.origin.replaces].scores[-1].round % 2 == 0
        assert child.scores[0].round == int(child.origin.checkpoint.partition("-")[0]) + 1
    assert sum(trial.state == "done" for trial in trials.values()) == 4
    first = [max(trial.scores, key=lambda score: score.round).value for trial in trials.values() if not trial.origin]
    assert max(trial.score for trial in children) > sorted(first)[-2]


@pytest.mark.parametrize("rules", [RULES, TOGETHER], ids=["alone", "together"])
@pytest.mark.parametrize("kill", [1, 2, 3, 5, 7])
def test_kills_between_any_events_change_no_decision(tmp_path: Path, rules: Rules, kill: int) -> None:
    assert facts(searched(tmp_path / "killed", rules, kill)) == facts(searched(tmp_path / "whole", rules))


def test_members_take_turns_so_that_all_come_as_far_as_the_others(tmp_path: Path) -> None:
    driver = searched(tmp_path, RULES)
    orders = [(score.order, (score.round + 1) // 2) for trial in driver.log.trials for score in trial.scores]
    generations = [generation for _, generation in sorted(orders)]
    assert generations == sorted(generations)


@pytest.mark.parametrize("rules", [RULES, TOGETHER], ids=["alone", "together"])
def test_no_more_trials_run_than_there_are_places(tmp_path: Path, rules: Rules) -> None:
    assert searched(tmp_path, rules, concurrent=2).most_running == 2


def test_the_trials_of_one_generation_are_compared_whatever_their_order(tmp_path: Path) -> None:
    """If all wait for each other, the number of places decides nothing."""
    narrow, wide = (searched(tmp_path / str(places), TOGETHER, concurrent=places) for places in (1, 4))
    assert facts(narrow) == facts(wide)
