"""The best evaluation round so far, its weights, and the number of rounds since then."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from trainwright_trainer.loop.monitor import MonitoredMetric
from trainwright_trainer.rundir.blocks import Blocks


@dataclass
class Best:
    """`weights` is a copy of this rank's part of the model at `step`. Nothing changes it, so snapshots may share it."""

    monitored: MonitoredMetric
    early_stop: int
    tolerance: float = 0.0
    """The relative difference of the loss that counts as chance: of rounds that are equally good, the last is the best.
    It is relative to the least loss or to a tenth of the first round's loss, the larger of the two: relative to a least
    loss near zero the difference would be nothing."""
    value: float = math.nan
    step: int = 0
    epoch: int = 0
    rounds_since: int = 0
    first: float = math.nan
    weights: Blocks | None = None

    def observe(self, value: float, step: int, epoch: int) -> bool:
        """Add one round's value. Return True if it is the best so far, or as good within `tolerance`."""
        self.first = value if math.isnan(self.first) else self.first
        better = self.monitored.better(value, self.value)
        if not better and not self._as_good(value):
            self.rounds_since += 1
            return False
        self.value = value if better else self.value
        self.step, self.epoch, self.rounds_since = step, epoch, 0
        return True

    def _as_good(self, value: float) -> bool:
        if not self.tolerance or math.isnan(value):
            return False
        return abs(value - self.value) <= self.tolerance * max(abs(self.value), abs(self.first) / 10)

    def take(self, step: int, epoch: int) -> None:
        """Make the newest round the best one. Used without a validation split."""
        self.step, self.epoch, self.rounds_since = step, epoch, 0

    @property
    def exhausted(self) -> bool:
        """True if early stopping ends the run. `early_stop` 0 or -1 switches it off."""
        return 0 < self.early_stop <= self.rounds_since

    def state(self) -> dict[str, Any]:
        """The state as plain JSON, without the weights."""
        names = ("value", "first", "step", "epoch", "rounds_since")
        return {name: getattr(self, name) for name in names}

    def load(self, state: Mapping[str, Any], weights: Blocks | None) -> None:
        self.value, self.first = state["value"], state["first"]
        self.step, self.epoch = state["step"], state["epoch"]
        self.rounds_since, self.weights = state["rounds_since"], weights
