"""The best round so far, its weights, and how long there has been none better."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import torch

from trainwright_trainer.loop.decisive import Decisive
from trainwright_trainer.loop.seams import Tensors


@dataclass
class Best:
    """`weights` is the model's state at `step`: a copy that nobody changes, so snapshots may share it."""

    decisive: Decisive
    early_stop: int
    value: float = math.nan
    step: int = 0
    epoch: int = 0
    rounds_since: int = 0
    weights: Tensors | None = None

    def observe(self, value: float, step: int, epoch: int) -> bool:
        """One round's value; True when it is the best so far."""
        if not self.decisive.better(value, self.value):
            self.rounds_since += 1
            return False
        self.value, self.step, self.epoch, self.rounds_since = value, step, epoch, 0
        return True

    def take(self, step: int, epoch: int) -> None:
        """The newest weights are the best there are: without a validation split."""
        self.step, self.epoch, self.rounds_since = step, epoch, 0

    @property
    def exhausted(self) -> bool:
        """Whether early stopping ends the run; 0 and -1 switch it off."""
        return 0 < self.early_stop <= self.rounds_since

    def state(self) -> dict[str, Any]:
        """Plain JSON, without the weights."""
        return {"value": self.value, "step": self.step, "epoch": self.epoch, "rounds_since": self.rounds_since}

    def load(self, state: Mapping[str, Any], weights: Mapping[str, torch.Tensor] | None) -> None:
        self.value, self.step, self.epoch = state["value"], state["step"], state["epoch"]
        self.rounds_since, self.weights = state["rounds_since"], weights
