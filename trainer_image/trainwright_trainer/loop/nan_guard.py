"""A loss that is not a number ends the run, with the step and the epoch in which it came."""

from __future__ import annotations

import math

import torch

from trainwright_api.problems import Mistakes


class NanGuard:
    """Watches every step's loss. On a CPU it is looked at at once; on a GPU without waiting, and asked for later."""

    def __init__(self, device: torch.device) -> None:
        # The first bad step, kept on the device: looking at it would wait for all that is queued there.
        self._first = None if device.type == "cpu" else torch.full((), math.inf, dtype=torch.float64, device=device)

    def watch(self, loss: torch.Tensor, step: int, epoch: int) -> None:
        """`step` is the number of the step, counted from 1. Raises `Mistakes` on a CPU."""
        if self._first is None:
            if not math.isfinite(float(loss)):
                raise not_finite(step, epoch)
            return
        seen = torch.where(torch.isfinite(loss), math.inf, float(step)).to(torch.float64)
        self._first = torch.minimum(self._first, seen)

    def check(self, steps_per_epoch: int) -> None:
        """Before anything is kept. Raises `Mistakes` if a loss since the beginning was not finite."""
        if self._first is not None and math.isfinite(first := float(self._first)):
            raise not_finite(int(first), (int(first) - 1) // steps_per_epoch)


def not_finite(step: int, epoch: int) -> Mistakes:
    """What the user reads; epochs are counted from 1 for people."""
    return Mistakes.one(
        "",
        f"the loss is not a number at step {step:,} (epoch {epoch + 1}): training stopped, the last good checkpoint is "
        "kept. A smaller trainer.learning_rate, normalised inputs or gradient clipping often help.",
    )
