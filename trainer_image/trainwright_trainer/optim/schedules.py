"""The learning rate as a pure function of the step, so that a resumed run needs no scheduler state.

Warm-up rises linearly from 0. The decay begins where it ends and counts its steps from there. Only the plateau has
state; it is in `plateau.py` and multiplies the rate of this module.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from trainwright_api.config.trainer import LearningRateScheduler


@dataclass(frozen=True)
class LearningRateSchedule:
    """`rate(step)` for steps from 0 to `total_steps`. `steps_per_round`: the steps from one evaluation to the next."""

    section: LearningRateScheduler
    base: float
    total_steps: int
    steps_per_round: int

    @property
    def warmup_steps(self) -> float:
        """The larger of the two configured lengths of the warm-up; it may be fractional."""
        by_share = self.section.warmup_fraction * self.total_steps
        return max(by_share, self.section.warmup_evaluations * self.steps_per_round)

    def rate(self, step: int) -> float:
        """The rate of the next optimizer step; `step` is the number of finished steps."""
        warmup = self.warmup_steps
        if step < warmup:
            return self.base * step / max(1.0, warmup)
        return self._decayed(step - math.ceil(warmup))

    def _decayed(self, step: int) -> float:
        match self.section.decay:
            case "linear":
                stretch = self.total_steps - self.warmup_steps
                return self.base * max(0.0, (stretch - step) / max(1.0, stretch))
            case "exponential":
                exponent = step / self.section.decay_steps
                return float(
                    self.base * self.section.decay_rate ** (int(exponent) if self.section.staircase else exponent)
                )
            case "cosine":
                return self._cosine(step)
            case _:
                return self.base

    def _cosine(self, step: int) -> float:
        """Cosine with warm restarts: each period is `t_mult` times as long as the one before."""
        period = self.section.t_0 or self.steps_per_round
        if self.section.t_mult == 1:
            step %= period
        else:
            while step >= period:
                step, period = step - period, period * self.section.t_mult
        low = self.section.eta_min
        return low + (self.base - low) * (1 + math.cos(math.pi * step / period)) / 2
