"""A loss that is not finite ends the run, with an error that names the step and the epoch."""

from __future__ import annotations

import math

import torch

from trainwright_api.problems import Mistakes
from trainwright_trainer.loop.step_agreement import StepLoss


class NanGuard:
    """Checks every step's loss: on a CPU at once; on a GPU the result stays on the device until `check` reads it."""

    def __init__(self, device: torch.device) -> None:
        # The first bad step, kept on the device: reading it would wait for all queued work.
        self._first = None if device.type == "cpu" else torch.full((), math.inf, dtype=torch.float64, device=device)

    def watch(self, loss: StepLoss, step: int, epoch: int) -> None:
        """Check one loss. `step` counts from 1, `epoch` from 0. On a CPU, raises `Mistakes` if it is not finite."""
        if isinstance(loss, float):
            if not math.isfinite(loss):
                raise not_finite(step, epoch)
            return
        assert self._first is not None
        seen = torch.where(torch.isfinite(loss), math.inf, float(step)).to(torch.float64)
        self._first = torch.minimum(self._first, seen)

    def check(self, steps_per_epoch: int) -> None:
        """Raise `Mistakes` if a loss of any step so far was not finite. Called before anything is saved."""
        if self._first is not None and math.isfinite(first := float(self._first)):
            raise not_finite(int(first), (int(first) - 1) // steps_per_epoch)


def not_finite(step: int, epoch: int) -> Mistakes:
    """The error for the user; its epoch counts from 1."""
    return Mistakes.one(
        "",
        f"the loss is not a number at step {step:,} (epoch {epoch + 1}): training stopped, the last good checkpoint is "
        "kept. A smaller trainer.learning_rate, normalised inputs or gradient clipping often help.",
    )
