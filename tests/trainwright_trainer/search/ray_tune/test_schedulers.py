"""The schedulers of Ray Tune get the fields of their sections."""

from __future__ import annotations

from typing import Any

import pytest
from ray.tune.schedulers import FIFOScheduler

from trainwright_api.checks import support
from trainwright_api.config.hyperopt import RayExecutor
from trainwright_api.config.hyperopt.scheduler import SCHEDULER, Scheduler
from trainwright_trainer.search.ray_tune.schedulers import scheduler_of


def section(given: Any) -> Scheduler:
    return RayExecutor.model_validate({"scheduler": given}).scheduler


@pytest.mark.parametrize("word", SCHEDULER.words)
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
    assert section({"type": "median_stopping_rule", "hard_stop": False}).pauses
    assert not any(section(word).pauses for word in ("fifo", "asha", "median_stopping_rule"))


@pytest.mark.parametrize(
    ("given", "field"), [("asha", "round"), ({"type": "asha", "time_attr": "time_total_s"}, "seconds")]
)
def test_time_is_measured_by_our_own_results(given: Any, field: str) -> None:
    """Tune's counters begin at 0 when a trial starts again."""
    made: Any = scheduler_of(section(given))
    assert made._time_attr == field
