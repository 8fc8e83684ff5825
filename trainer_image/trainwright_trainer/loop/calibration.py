"""Temperature scaling: after training, the logits of an output are divided by the number that fits the validation rows
best, so that its probabilities are calibrated. The order of the classes of a row does not change.

Source: Guo, Pleiss, Sun, Weinberger, "On calibration of modern neural networks", 2017.
"""

from __future__ import annotations

import math
from collections.abc import Mapping

import torch

from trainwright_api.config import ModelConfig
from trainwright_api.problems import Mistakes
from trainwright_trainer.callbacks.events import Scores
from trainwright_trainer.distributed.ranks import Ranks
from trainwright_trainer.loader.batch import Batch
from trainwright_trainer.loader.interface import Loader
from trainwright_trainer.loop.evaluator import evaluate
from trainwright_trainer.models.model import Model
from trainwright_trainer.models.trainable import Tensors

LARGEST = 20.0
"""Temperatures are between 1 / LARGEST and LARGEST: logits without any signal would have an infinite one."""
_BISECTIONS = 60


def check_calibration(config: ModelConfig, validation_rows: int) -> None:
    """Raise `Mistakes` if an output is to be calibrated and there are no validation rows."""
    for position, feature in enumerate(config.output_features):
        if getattr(feature, "calibration", False) and not validation_rows:
            found = "is true, and there are no validation rows to calibrate on"
            raise Mistakes.one(f"config.output_features[{position}].calibration", found)


def calibrate(model: Model, validation: Loader, batch_rows: int, ranks: Ranks) -> dict[str, float]:
    """Set and return the temperatures of the outputs with `calibration`. All ranks must call this."""
    if not model.decoders.calibrated:
        return {}
    scores = evaluate(model, validation, batch_rows, _Temperatures(model), ranks=ranks)
    temperatures = {name: of_output["temperature"] for name, of_output in scores.items()}
    model.decoders.set_temperatures(temperatures)
    return temperatures


def temperature_of(logits: torch.Tensor, targets: torch.Tensor) -> float:
    """The temperature with the smallest cross entropy. Logits: [rows] (log-odds) or [rows, classes].

    One row more has the mean of the rows' logits, and each class in equal shares: otherwise rows without a mistake,
    as small validation sets often are, would make every prediction certain. The cross entropy is convex in the inverse
    temperature, so bisection of its derivative finds the minimum.
    """
    classes = logits if logits.ndim == 2 else torch.stack([torch.zeros_like(logits), logits], 1)
    scores = classes.double()
    own = scores.gather(1, targets.long().unsqueeze(1)).squeeze(1)
    unsure = scores.mean(1).mean()
    low, high = -math.log(LARGEST), math.log(LARGEST)
    for _ in range(_BISECTIONS):
        middle = (low + high) / 2
        expected = (torch.softmax(scores * math.exp(middle), 1) * scores).sum(1)
        if float((expected - own).sum() + expected.mean() - unsure) > 0:
            high = middle
        else:
            low = middle
    return math.exp(-(low + high) / 2)


class _Temperatures:
    """The logits and targets of the calibrated outputs, with the methods of metrics: evaluation then shares the rows
    among the ranks, and the temperatures that rank 0 computes with all of them."""

    def __init__(self, model: Model) -> None:
        self._model = model
        self.reset()

    def reset(self) -> None:
        self._rows: dict[str, list[torch.Tensor]] = {}

    def update(self, logits: Tensors, losses: Tensors, batch: Batch) -> None:  # noqa: ARG002
        for name in self._model.decoders.calibrated:
            self._append(f"logits.{name}", logits[name].cpu())
            self._append(f"targets.{name}", self._model.targets(batch, name).cpu())

    def compute(self) -> Scores:
        rows = self.tensors()
        return {
            name: {"temperature": temperature_of(rows[f"logits.{name}"], rows[f"targets.{name}"])}
            for name in self._model.decoders.calibrated
        }

    def tensors(self) -> dict[str, torch.Tensor]:
        return {name: torch.cat(parts) for name, parts in self._rows.items()}

    def load(self, tensors: Mapping[str, torch.Tensor]) -> None:
        self._rows = {name: [rows] for name, rows in tensors.items()}

    def add(self, tensors: Mapping[str, torch.Tensor]) -> None:
        for name, rows in tensors.items():
            self._append(name, rows)

    def _append(self, name: str, rows: torch.Tensor) -> None:
        self._rows.setdefault(name, []).append(rows)
