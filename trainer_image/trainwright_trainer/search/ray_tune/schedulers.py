"""The schedulers, which stop or pause trials. One unit of `training_iteration` is an evaluation round.

Time is measured by the fields of our own results. Tune's counters begin at 0 when a trial starts again.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ray.tune.schedulers import (
    AsyncHyperBandScheduler,
    FIFOScheduler,
    HyperBandScheduler,
    MedianStoppingRule,
    TrialScheduler,
)

from trainwright_api.config.hyperopt import scheduler as sections

_BUILT: Mapping[type, type[TrialScheduler]] = {
    sections.FIFOScheduler: FIFOScheduler,
    sections.AsyncHyperbandScheduler: AsyncHyperBandScheduler,
    sections.HyperbandScheduler: HyperBandScheduler,
    sections.MedianStoppingScheduler: MedianStoppingRule,
}
_NOT_PASSED = ("type", "metric", "mode")
_OF_TIMES = {"training_iteration": "round", "time_total_s": "seconds", "step": "step"}


def scheduler_of(section: sections.Scheduler) -> TrialScheduler:
    if isinstance(section, sections.FIFOScheduler):
        return FIFOScheduler()  # type: ignore[no-untyped-call]
    fields: dict[str, Any] = {name: getattr(section, name) for name in type(section).model_fields}
    passed = {name: value for name, value in fields.items() if name not in _NOT_PASSED}
    return _BUILT[type(section)](**{**passed, "time_attr": _OF_TIMES[passed["time_attr"]]})
