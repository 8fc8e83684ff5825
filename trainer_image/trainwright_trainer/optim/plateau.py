"""A factor on the learning rate that falls when a metric stops improving."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from trainwright_api.config.metric_names import Direction
from trainwright_api.config.trainer import LearningRateScheduler

# A relative improvement of more than 1e-4 counts, as in torch's ReduceLROnPlateau, which counts wrongly below zero.
_THRESHOLD = 1e-4


class Plateau:
    """Observes one value a round; `factor` multiplies the schedule's rate.

    `factor` falls after more than `reduce_on_plateau_patience` rounds in a row without a better value, at most
    `reduce_on_plateau` times.
    """

    def __init__(self, section: LearningRateScheduler) -> None:
        self._limit, self._patience = section.reduce_on_plateau, section.reduce_on_plateau_patience
        self._rate = section.reduce_on_plateau_rate
        self._best = math.inf
        self._waited = 0
        self._reductions = 0

    @property
    def factor(self) -> float:
        return float(self._rate**self._reductions)

    def observe(self, value: float, direction: Direction) -> None:
        """Add the value of one round. A NaN is never better. `direction`: the one in which the value improves."""
        if self._reductions >= self._limit:
            return
        if self._better(value, direction):
            self._best, self._waited = value, 0
        else:
            self._waited += 1
        if self._waited > self._patience:
            self._reductions, self._waited = self._reductions + 1, 0

    def _better(self, value: float, direction: Direction) -> bool:
        if math.isinf(self._best):
            return math.isfinite(value)
        margin = _THRESHOLD * abs(self._best)
        return value < self._best - margin if direction == "min" else value > self._best + margin

    def state(self) -> dict[str, Any]:
        """The state as plain JSON."""
        return {"best": self._best, "waited": self._waited, "reductions": self._reductions}

    def load(self, state: Mapping[str, Any]) -> None:
        self._best, self._waited = state["best"], state["waited"]
        self._reductions = state["reductions"]
