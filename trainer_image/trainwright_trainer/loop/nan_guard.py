"""A loss that is not finite ends the run, with an error that names the step and the epoch."""

from __future__ import annotations

import math

import torch

from trainwright_api.problems import Mistakes
from trainwright_trainer.loop.step_agreement import StepLoss

_KEPT = 1024
"""The losses that wait on a GPU until they are looked at together: to look at each takes it several small kernels."""


class NanGuard:
    """Checks every step's loss: on a CPU at once; on a GPU the losses stay on the device until `check` reads them."""

    def __init__(self, device: torch.device) -> None:
        self._losses = None if device.type == "cpu" else LossesOfSteps(device)

    def watch(self, loss: StepLoss, step: int, epoch: int) -> None:
        """Check one loss. `step` counts from 1, `epoch` from 0. On a CPU, raises `Mistakes` if it is not finite."""
        if isinstance(loss, float):
            if not math.isfinite(loss):
                raise not_finite(step, epoch)
            return
        assert self._losses is not None
        self._losses.add(loss, step)

    def check(self, steps_per_epoch: int) -> None:
        """Raise `Mistakes` if a loss of any step so far was not finite. Called before anything is saved."""
        if self._losses is not None and (first := self._losses.first_not_finite()) is not None:
            raise not_finite(first, (first - 1) // steps_per_epoch)


class LossesOfSteps:
    """The losses of consecutive steps on a device. Nothing waits for it until `first_not_finite`."""

    def __init__(self, device: torch.device) -> None:
        self._kept = torch.zeros(_KEPT, dtype=torch.float64, device=device)
        self._first = torch.full((), math.inf, dtype=torch.float64, device=device)
        self._count = self._step = 0

    def add(self, loss: torch.Tensor, step: int) -> None:
        """`loss`, [], is that of `step`, the one after the last one."""
        if self._count == _KEPT:
            self._look()
        self._kept[self._count].copy_(loss)
        self._count, self._step = self._count + 1, step

    def first_not_finite(self) -> int | None:
        """The first step whose loss was not finite. Waits for the device."""
        self._look()
        first = float(self._first)
        return int(first) if math.isfinite(first) else None

    def _look(self) -> None:
        if not self._count:
            return
        losses = self._kept[: self._count]
        steps = torch.arange(self._step - self._count + 1, self._step + 1, dtype=torch.float64, device=losses.device)
        self._first = torch.minimum(self._first, torch.where(losses.isfinite(), math.inf, steps).min())
        self._count = 0


def not_finite(step: int, epoch: int) -> Mistakes:
    """The error for the user; its epoch counts from 1."""
    return Mistakes.one(
        "",
        f"the loss is not a number at step {step:,} (epoch {epoch + 1}): training stopped, the last good checkpoint is "
        "kept. A smaller trainer.learning_rate, normalised inputs or gradient clipping often help.",
    )
