"""A small real job. Its inputs are a number, a binary and a category; its default output is a binary."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest
import torch
from tests.checkpoints import reopened

from trainwright_api.config import ModelConfig, resolve
from trainwright_api.resource.job import CheckpointPolicy
from trainwright_trainer.callbacks.events import Evaluated, Event, Stepped
from trainwright_trainer.job.batching import Batching, batching
from trainwright_trainer.layers.normalisation import norm_batches
from trainwright_trainer.loader.encoded_rows import EncodedRows
from trainwright_trainer.loader.epoch_order import EpochOrder
from trainwright_trainer.loader.layout import layout_of
from trainwright_trainer.loader.materialised import Materialised
from trainwright_trainer.loop.arguments import Hooks, TrainingArguments, TrainingResult
from trainwright_trainer.loop.trainer import Trainer
from trainwright_trainer.metrics.model import ModelMetrics, model_metrics
from trainwright_trainer.models.model import Model
from trainwright_trainer.models.trainable import allocate
from trainwright_trainer.rundir.snapshot import Snapshot

STATISTICS: Mapping[str, Mapping[str, Any]] = {
    "size": {"type": "number", "mean": 0.0, "std": 1.0, "normalization": None, "scale": 1.0, "shift": 0.0},
    "open": {"type": "binary", "counts": [5, 5], "true": "yes", "false": "no"},
    "kind": {"type": "category", "vocabulary": ["<UNK>", "a", "b", "c"], "counts": [0, 4, 3, 3]},
    "late": {"type": "binary", "counts": [5, 5], "true": "yes", "false": "no"},
    "delay": {
        "type": "number",
        "mean": 0.0,
        "std": 1.0,
        "normalization": None,
        "scale": 1.0,
        "shift": 0.0,
        "encoded": {"mean": 0.0, "std": 1.0},
    },
}
SPLITS = {"train": 100, "validation": 40, "test": 30}


class Kept:
    """Checkpoints in memory."""

    def __init__(self) -> None:
        self.snapshots: list[Snapshot] = []

    def save(self, snapshot: Snapshot) -> None:
        self.snapshots.append(snapshot)

    def at(self, step: int) -> Snapshot:
        return next(one for one in self.snapshots if one.position.step == step)


class RecordingListener:
    def __init__(self) -> None:
        self.events: list[Event] = []

    def on_event(self, event: Event) -> None:
        self.events.append(event)

    def close(self) -> None: ...

    def steps(self) -> list[Stepped]:
        return [event for event in self.events if isinstance(event, Stepped)]

    def rounds(self) -> list[Evaluated]:
        return [event for event in self.events if isinstance(event, Evaluated)]


class Ticks:
    """A clock that advances by one second at each reading."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        self.now += 1.0
        return self.now


@dataclass
class Job:
    """The arguments of `Trainer`, and the results of a run: model, checkpoints and events."""

    config: ModelConfig
    splits: Mapping[str, Materialised]
    seed: int = 7
    kept: Kept = field(default_factory=Kept)
    listener: RecordingListener = field(default_factory=RecordingListener)
    model: Model = field(init=False)

    def __post_init__(self) -> None:
        self.model = Model(self.config, STATISTICS, layout_of(self.config, STATISTICS), self.seed)
        allocate(self.model, torch.device("cpu"))

    def metrics(self, *, running: bool = False) -> ModelMetrics:
        return model_metrics(self.config, STATISTICS, running=running)

    def train(
        self,
        *,
        policy: CheckpointPolicy | None = None,
        batches: Batching | None = None,
        attempt: int = 1,
        resume: Snapshot | None = None,
        **hooks: Any,
    ) -> TrainingResult:
        batches = batches or batching(self.config.trainer, 1, norm_batches(self.model))
        policy = policy or CheckpointPolicy(every_seconds=0)
        trainer = Trainer(
            TrainingArguments(self.config, batches, self.seed, policy, attempt),
            self.model,
            self.splits,
            self.metrics,
            hooks=Hooks([self.listener], self.kept, **hooks),
            resume=None if resume is None else reopened(resume),
        )
        return trainer.train()

    def weights(self) -> dict[str, torch.Tensor]:
        return {name: value.clone() for name, value in self.model.state_dict().items()}


def split_of(rows: int, first: int, width: int, dtype: torch.dtype) -> EncodedRows:
    """Rows with a signal: the targets depend on the size, with noise."""
    draws = np.random.default_rng(first)
    size, noise = draws.normal(size=rows), draws.normal(size=rows)
    floats = np.stack([size, draws.integers(0, 2, rows), size + noise > 0, size + noise], 1)[:, :width]
    ints = draws.integers(0, 4, (rows, 1))
    return EncodedRows(torch.from_numpy(floats).to(dtype), torch.from_numpy(ints), np.arange(first, first + rows))


@pytest.fixture
def job() -> Callable[..., Job]:
    def make(
        trainer: Mapping[str, Any] | None = None,
        *,
        outputs: Sequence[Mapping[str, Any]] = ({"name": "late", "type": "binary"},),
        combiner: Mapping[str, Any] | None = None,
        sizes: Mapping[str, int] = SPLITS,
        seed: int = 7,
    ) -> Job:
        config = resolve(
            ModelConfig.model_validate(
                {
                    "input_features": [
                        {"name": "size", "type": "number"},
                        {"name": "open", "type": "binary"},
                        {"name": "kind", "type": "category"},
                    ],
                    "combiner": {"type": "concat", "num_fc_layers": 1, "output_size": 8, **(combiner or {})},
                    "output_features": list(outputs),
                    "trainer": {"epochs": 2, "batch_size": 16, "learning_rate": 0.01, **(trainer or {})},
                }
            )
        )
        dtype = torch.float64 if config.trainer.precision == "float64" else torch.float32
        width = 2 + len(outputs)
        order = EpochOrder(seed, config.trainer.should_shuffle)
        splits = {
            name: Materialised(split_of(rows, at * 1000, width, dtype), order)
            for at, (name, rows) in enumerate(sizes.items())
        }
        return Job(config, splits, seed)

    return make


@pytest.fixture
def ticks() -> type[Ticks]:
    return Ticks
