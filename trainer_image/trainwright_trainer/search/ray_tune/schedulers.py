"""The schedulers, which stop or pause trials. One unit of `training_iteration` is an evaluation round.

Time is measured by the fields of our own results. Tune's counters begin at 0 when a trial starts again.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ray.tune.experiment import Trial
from ray.tune.schedulers import (
    AsyncHyperBandScheduler,
    FIFOScheduler,
    HyperBandForBOHB,
    HyperBandScheduler,
    MedianStoppingRule,
    TrialScheduler,
)

from trainwright_api.config.hyperopt import scheduler as sections


class _EndingBrackets:
    """Ray's hyperbands, where a trial may end by itself, as by early stopping.

    Ray does not look at a bracket again when its last running trial ends in this way after the first rung: the paused
    trials would wait for ever.
    """

    def on_trial_remove(self: Any, tune_controller: Any, trial: Trial) -> None:
        bracket, _ = self._trial_info[trial]
        bracket.cleanup_trial(trial)
        if bracket.current_trials() and not bracket.is_being_processed:
            self._process_bracket(tune_controller, bracket)

    def _process_bracket(self, tune_controller: Any, bracket: Any) -> str:
        """Ray sets the mark, by which the stop of a trial does not begin it again, for ever, and not in each case."""
        bracket.is_being_processed = True
        try:
            return str(super()._process_bracket(tune_controller, bracket))  # type: ignore[misc]
        finally:
            bracket.is_being_processed = False


class Hyperband(_EndingBrackets, HyperBandScheduler):
    """Brackets are filled one after the other, and a trial waits until its bracket is full."""


class HyperbandForBohb(_EndingBrackets, HyperBandForBOHB):
    """The largest bracket is filled first, and a trial is paused before its bracket is full: BOHB learns from it."""


_BUILT: Mapping[type, type[TrialScheduler]] = {
    sections.FIFOScheduler: FIFOScheduler,
    sections.AsyncHyperbandScheduler: AsyncHyperBandScheduler,
    sections.HyperbandScheduler: Hyperband,
    sections.BOHBScheduler: HyperbandForBohb,
    sections.MedianStoppingScheduler: MedianStoppingRule,
}
_NOT_PASSED = ("type", "metric", "mode")
_OF_TIMES = {"training_iteration": "round", "time_total_s": "seconds", "step": "step"}


def scheduler_of(section: sections.Scheduler) -> TrialScheduler:
    if isinstance(section, sections.FIFOScheduler):
        return FIFOScheduler()  # type: ignore[no-untyped-call]
    fields: dict[str, Any] = {name: getattr(section, name) for name in type(section).model_fields}
    passed = {name: value for name, value in fields.items() if name not in _NOT_PASSED}
    return _BUILT[type(section)](**{**passed, "time_attr": measure_of(section)})


def measure_of(section: sections.Scheduler) -> str:
    """The field of our results that measures the time of a scheduler."""
    return _OF_TIMES[section.time_attr]
