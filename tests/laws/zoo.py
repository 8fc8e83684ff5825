"""The real training of the jobs of `zoo_jobs`, watched."""

from __future__ import annotations

import ctypes
import gc
import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from unittest.mock import patch

import torch
from safetensors.torch import load_file
from torch import nn

from trainwright_trainer import train
from trainwright_trainer.layers.linear_products import side_by_side
from trainwright_trainer.layers.steps import Steps
from trainwright_trainer.loader.batch import Batch
from trainwright_trainer.loader.interface import Loader
from trainwright_trainer.loop.arguments import TrainingResult
from trainwright_trainer.loop.trainer import Trainer
from trainwright_trainer.models.model import Model
from trainwright_trainer.tasks import train as stage

from .zoo_jobs import Part


@dataclass
class Watched:
    """The training of a job: the model, its tensors before the first step, and its loaders."""

    model: Model = field(init=False)
    before: dict[str, torch.Tensor] = field(init=False)
    loaders: Mapping[str, Loader] = field(init=False)

    def changed(self) -> set[str]:
        """The names of the parameters and buffers that training has changed."""
        return {name for name, value in _tensors(self.model).items() if not torch.equal(value, self.before[name])}


def _tensors(model: nn.Module) -> dict[str, torch.Tensor]:
    """All parameters and buffers, also those that are not saved."""
    return {name: one.detach().clone() for name, one in (*model.named_parameters(), *model.named_buffers())}


@contextmanager
def watching(*, drops: bool = True) -> Iterator[Watched]:
    """Watch the training that is started within. `drops`: with dropout, which ranks draw for their own rows."""
    seen = Watched()

    class WatchedTrainer(Trainer):
        def train(self) -> TrainingResult:
            seen.model, seen.loaders = self._state.engine.model, self._loaders
            if not drops:
                without_dropout(seen.model)
            seen.before = _tensors(seen.model)
            return super().train()

    with patch.object(stage, "Trainer", WatchedTrainer):
        yield seen


def without_dropout(model: nn.Module) -> None:
    """Let no module drop anything: dropout, stochastic depth, and timm's drop paths."""
    for module in model.modules():
        for name in ("p", "drop_prob"):
            if isinstance(getattr(module, name, None), float):
                setattr(module, name, 0.0)


def free_memory() -> None:
    """Free the models that nothing uses: they are in cycles, and a training keeps the memory of the process."""
    gc.collect()
    ctypes.CDLL(None).malloc_trim(0)


def losses(job: Mapping[str, Any], output: Path) -> list[float]:
    """Train without dropout. Returns the loss of each split in each round."""
    with watching(drops=False):
        train(job, output=output, quiet=True)
    free_memory()
    rounds = json.loads((output / "metrics.json").read_text())["rounds"]
    return [scores["combined"]["loss"] for one in rounds for scores in one["scores"].values()]


def weights_of(output: Path) -> dict[str, torch.Tensor]:
    found: dict[str, torch.Tensor] = load_file(output / "model" / "weights.safetensors")
    return found


def vectors(part: Part, model: Model, batch: Batch) -> list[torch.Tensor]:
    """The vector or the steps of each row: those of the encoder, or of the output."""
    with torch.inference_mode():
        found = model.encoders(batch)[0] if part.role == "encoder" else next(iter(model.predict(batch).values()))
    if isinstance(found, Steps):
        return [row[:length] for row, length in zip(found.values, found.lengths.tolist(), strict=True)]
    return list(side_by_side([found]))
