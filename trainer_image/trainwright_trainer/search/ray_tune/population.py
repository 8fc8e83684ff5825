"""Population based training on Ray Tune: `search/population.py` decides, and these classes tell Tune.

Tune starts what is pending in no order that we know. So it gets a trial only when it is that trial's turn.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from ray.tune.experiment import Trial as TuneTrial
from ray.tune.schedulers import TrialScheduler
from ray.tune.search.searcher import Searcher

from trainwright_trainer.rundir.layout import CheckpointName
from trainwright_trainer.search import population
from trainwright_trainer.search.log import SearchLog
from trainwright_trainer.search.population import Rules
from trainwright_trainer.search.ray_tune.hooks import METRIC, Unsaved
from trainwright_trainer.search.ray_tune.recorded import RecordedSearcher
from trainwright_trainer.search.trials import Origin, Trial, replaced

SECONDS_BETWEEN_TRIES = 1.0
Exchanges = Sequence[tuple[Trial, Sequence[Trial]]]
Perturb = Callable[[Mapping[str, Any], np.random.Generator], Mapping[str, Any]]
Kept = Callable[[str, int], CheckpointName | None]


class Population:
    """The trials of a population: which run, which wait, and which are replaced.

    `kept(trial, step)` keeps a checkpoint of a trial; `perturb` changes values; `concurrent`: the trials at a time.
    """

    def __init__(
        self, log: SearchLog, rules: Rules, *, seed: int, concurrent: int, kept: Kept, perturb: Perturb
    ) -> None:
        self.log, self.rules = log, rules
        self._seed, self._concurrent, self._kept, self._perturb = seed, concurrent, kept, perturb
        self._running: set[str] = set()
        self._known: tuple[int, Exchanges, Sequence[Trial]] = (-1, (), ())
        self._next_try = -math.inf

    @property
    def is_full(self) -> bool:
        return population.is_full(self.log.trials, self.rules)

    @property
    def is_over(self) -> bool:
        return self.is_full and not population.alive(self.log.trials)

    def next(self) -> Trial | None:
        """The trial whose turn it is. None if there is none, if all places are taken, or if a new trial comes first."""
        if len(self._running) >= self._concurrent:
            return None
        found = next(iter(self._waiting()), None)
        return None if found is not None and not self.is_full and self.rules.generation(found) else found

    def has_room(self) -> bool:
        """True if a new trial begins now."""
        return not self.is_full and len(self._running) < self._concurrent and self.next() is None

    def begin(self, trial: Trial) -> None:
        self._running.add(trial.id)

    def leave(self, name: str) -> None:
        """The trial has ended or waits: its place is free."""
        self._running.discard(name)

    def makes_room(self, trial: Trial) -> bool:
        """True if a trial waits after its last score: for its successor, for all the others, or for its next turn."""
        if not trial.scores or trial.scores[-1].is_last:
            return False
        if population.waits_for_others(trial, self.log.trials, self.rules):
            return True
        if not self.rules.is_due(trial):
            return False
        if any(loser.id == trial.id for loser, _ in self._decided()[0]):
            return True
        return not self.rules.together and (not self.is_full or bool(self._waiting()))

    def exchange(self) -> None:
        """Begin a trial in the place of each one that has to give it up, if the checkpoint for that is written."""
        if time.monotonic() < self._next_try:
            return
        for loser, winners in self._decided()[0]:
            draws = np.random.default_rng([self._seed, int(loser.id)])
            for position in draws.permutation(len(winners)):
                parent = winners[position]
                name = self._kept(parent.id, parent.scores[-1].step)
                if name is not None:
                    self._replace(loser, parent, name, draws)
                    break
                if self.log.trial(parent.id).end is None:  # it will write one
                    self._next_try = time.monotonic() + SECONDS_BETWEEN_TRIES
                    break

    def _replace(self, loser: Trial, parent: Trial, name: CheckpointName, draws: np.random.Generator) -> None:
        origin = Origin(parent.id, str(name), loser.id, self.rules.generation(parent))
        self.log.add(self._perturb(parent.values, draws), {}, origin)

    def _waiting(self) -> Sequence[Trial]:
        return [trial for trial in self._decided()[1] if trial.id not in self._running]

    def _decided(self) -> tuple[Exchanges, Sequence[Trial]]:
        """The exchanges that are due, and the trials that may run. They change with the log only."""
        if self._known[0] != self.log.order:
            trials = self.log.trials
            due = population.exchanges(trials, self.rules)
            self._known = self.log.order, due, population.may_run(trials, self.rules, due)
        return self._known[1], self._known[2]


class PopulationSearcher(RecordedSearcher):
    """Gives Tune a trial when its turn comes. Trials that have ended are not given: nothing is rebuilt from them."""

    def __init__(self, members: Population, *positional: Any, **named: Any) -> None:
        super().__init__(*positional, **named)
        self._members = members

    def suggest(self, trial_id: str) -> Any:
        members = self._members
        if self._is_closing() or members.is_over:
            return Searcher.FINISHED
        found = self._new() if members.has_room() else members.next()
        if found is None or isinstance(found, str) or found.id in self._names.values():
            return None  # `choose_trial_to_run` continues a trial that Tune has
        members.begin(found)
        return self._given(trial_id, found)

    def on_trial_complete(self, trial_id: str, result: dict[str, Any] | None = None, error: bool = False) -> None:
        super().on_trial_complete(trial_id, result, error)
        self._members.leave(self._names[trial_id])


class PopulationScheduler(Unsaved, TrialScheduler):
    """Pauses a trial that has to wait, stops one that is replaced, and continues the one whose turn it is."""

    def __init__(self, members: Population, searcher: PopulationSearcher, is_closing: Callable[[], bool]) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self._members, self._searcher, self._is_closing = members, searcher, is_closing

    def on_trial_result(self, tune_controller: Any, trial: TuneTrial, result: dict[str, Any]) -> str:  # noqa: ARG002
        log, name = self._members.log, _name(trial)
        if METRIC not in result or self._is_closing():
            return TrialScheduler.CONTINUE
        is_known = result["round"] <= log.trial(name).rounds
        self._searcher.on_trial_result(trial.trial_id, result)
        if name in replaced(log.trials):
            return TrialScheduler.STOP
        if is_known or not self._members.makes_room(log.trial(name)):
            return TrialScheduler.CONTINUE
        self._members.leave(name)
        return TrialScheduler.PAUSE

    def choose_trial_to_run(self, tune_controller: Any) -> TuneTrial | None:
        if self._is_closing():
            return None
        self._members.exchange()
        there: dict[str, TuneTrial] = {_name(trial): trial for trial in tune_controller.get_trials()}
        self._end_replaced(tune_controller, there)
        for trial in there.values():
            if trial.status == TuneTrial.PENDING:
                return trial
        found = self._members.next()
        paused = None if found is None else there.get(found.id)
        if found is None or paused is None or paused.status != TuneTrial.PAUSED:
            return None
        self._members.begin(found)
        return paused

    def _end_replaced(self, tune_controller: Any, there: Mapping[str, TuneTrial]) -> None:
        log = self._members.log
        for name in sorted(replaced(log.trials)):
            if log.trial(name).end is not None:
                continue
            if name not in there:  # it was replaced before the search continued
                log.end(name, "replaced")
            elif there[name].status in (TuneTrial.PAUSED, TuneTrial.PENDING):
                tune_controller.stop_trial(there[name])

    def on_trial_add(self, tune_controller: Any, trial: TuneTrial) -> None:
        """Does nothing: the searcher knows the trials."""

    def on_trial_error(self, tune_controller: Any, trial: TuneTrial) -> None:
        """Does nothing: Tune tells the searcher when it gives a trial up."""

    def on_trial_complete(self, tune_controller: Any, trial: TuneTrial, result: dict[str, Any]) -> None:
        """Does nothing: Tune tells the searcher."""

    def on_trial_remove(self, tune_controller: Any, trial: TuneTrial) -> None:
        """Does nothing: Tune tells the searcher."""

    def debug_string(self) -> str:
        return "population based training"


def _name(trial: TuneTrial) -> str:
    name: str = trial.config["trial"]["name"]
    return name
