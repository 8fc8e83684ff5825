"""The schedulers of Ray Tune get the fields of their sections."""

from __future__ import annotations

from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

import pytest
from ray.tune.schedulers import FIFOScheduler

from trainwright_api.checks import support
from trainwright_api.config.hyperopt import RayExecutor
from trainwright_api.config.hyperopt.scheduler import SCHEDULER, Scheduler
from trainwright_trainer.search.ray_tune.recorded import RecordedSearcher
from trainwright_trainer.search.ray_tune.schedulers import scheduler_of


def section(given: Any) -> Scheduler:
    return RayExecutor.model_validate({"scheduler": given}).scheduler


@pytest.mark.parametrize("word", [word for word in SCHEDULER.words if word != "pbt"])  # that is in `population.py`
def test_the_built_words_are_those_of_the_table(word: str) -> None:
    if word in support.SCHEDULERS:
        assert isinstance(scheduler_of(section(word)), FIFOScheduler)  # the base of all of them
    else:
        with pytest.raises(KeyError):
            scheduler_of(section(word))


def test_fields_are_passed() -> None:
    asha: Any = scheduler_of(
        section({"type": "asha", "max_t": 9, "grace_period": 3, "time_attr": "step", "brackets": 2})
    )
    assert (asha._max_t, asha._time_attr, len(asha._brackets)) == (9, "step", 2)
    assert [milestone for milestone, _ in asha._brackets[0]._rungs] == [3]
    median: Any = scheduler_of(section({"type": "median_stopping_rule", "min_samples_required": 7, "hard_stop": False}))
    assert (median._min_samples_required, median._hard_stop) == (7, False)
    band: Any = scheduler_of(section({"type": "hyperband", "max_t": 27, "reduction_factor": 2}))
    assert (band._max_t_attr, band._eta) == (27, 2)


def test_schedulers_that_pause_trials() -> None:
    assert section("hyperband").pauses
    assert section("hb_bohb").pauses
    assert section({"type": "median_stopping_rule", "hard_stop": False}).pauses
    assert not any(section(word).pauses for word in ("fifo", "asha", "median_stopping_rule"))


@pytest.mark.parametrize(
    ("given", "field"), [("asha", "round"), ({"type": "asha", "time_attr": "time_total_s"}, "seconds")]
)
def test_time_is_measured_by_our_own_results(given: Any, field: str) -> None:
    """Tune's counters begin at 0 when a trial starts again."""
    made: Any = scheduler_of(section(given))
    assert made._time_attr == field


@dataclass(eq=False)
class Paused:
    """A trial of Tune, as far as a scheduler looks at it."""

    trial_id: str
    status: str = "RUNNING"  # the others of the band have not ended
    is_saving: bool = False


class PausedByBohb:
    """The calls of hb_bohb, which `RecordedSearcher` has too."""

    on_pause = RecordedSearcher.on_pause
    on_unpause = RecordedSearcher.on_unpause


class Tune:
    """The side of Tune: it pauses and stops trials as the scheduler says."""

    def __init__(self, scheduler: Any, trials: int) -> None:
        self.scheduler, self.trials = scheduler, [Paused(f"t{number}") for number in range(trials)]
        self.search_alg = SimpleNamespace(searcher=PausedByBohb())
        for trial in self.trials:
            scheduler.on_trial_add(self, trial)

    def get_trials(self) -> list[Paused]:
        return self.trials

    def stop_trial(self, trial: Paused) -> None:
        trial.status = "TERMINATED"
        self.scheduler.on_trial_complete(self, trial, {})

    def result(self, number: int, round_: int) -> str:
        trial = self.trials[number]
        trial.status = "RUNNING"
        action: str = self.scheduler.on_trial_result(self, trial, {"round": round_, "score": float(number)})
        trial.status = {"PAUSE": "PAUSED", "STOP": "TERMINATED"}.get(action, "RUNNING")
        return action

    @property
    def states(self) -> list[str]:
        return [trial.status for trial in self.trials]


def band(trials: int, word: str = "hyperband") -> Tune:
    """Brackets of three trials with a rung at 4, of three with rungs at 2 and 4, and of four with rungs at 1, 2, 4.

    hb_bohb has them in the other order.
    """
    scheduler: Any = scheduler_of(section({"type": word, "max_t": 4, "reduction_factor": 2}))
    scheduler.set_search_properties("score", "max")
    return Tune(scheduler, trials)


def test_paused_trials_do_not_wait_for_a_trial_that_has_ended_by_itself() -> None:
    tune = band(3)
    assert [tune.result(number, 4) for number in (0, 1)] == ["PAUSE", "PAUSE"]
    tune.stop_trial(tune.trials[2])  # early stopping, before the last rung
    assert tune.states == ["TERMINATED"] * 3


def test_the_other_trials_of_a_rung_go_on_when_one_has_ended_by_itself() -> None:
    tune = band(10)
    assert [tune.result(number, 1) for number in (6, 7, 8, 9)] == ["PAUSE"] * 3 + ["CONTINUE"]
    assert tune.states[6:] == ["TERMINATED", "TERMINATED", "PAUSED", "RUNNING"]
    assert tune.result(8, 2) == "PAUSE"
    tune.stop_trial(tune.trials[9])  # after the first rung of its bracket
    assert tune.scheduler.choose_trial_to_run(tune) is tune.trials[8]
    assert tune.result(8, 4) == "STOP"


def test_hb_bohb_pauses_before_its_bracket_is_full() -> None:
    tune = band(3, "hb_bohb")  # of a bracket of four
    assert [tune.result(number, 1) for number in (0, 1)] == ["PAUSE", "PAUSE"]
    assert tune.scheduler.choose_trial_to_run(tune) is None
    tune.stop_trial(tune.trials[2])
    assert tune.scheduler.choose_trial_to_run(tune) in tune.trials[:2]  # no trial runs: the rung is over
