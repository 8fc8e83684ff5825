"""Two sides of a comparison in turn, and the training loop on batches that are ready."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from trainwright_api.config import ModelConfig
from trainwright_api.resource.job import CheckpointPolicy
from trainwright_trainer.callbacks.events import Event, Stepped
from trainwright_trainer.distributed.ranks import OneRank
from trainwright_trainer.job.batching import batching
from trainwright_trainer.layers.normalisation import norm_batches
from trainwright_trainer.loader.batch import Batch
from trainwright_trainer.loader.cut import Cut
from trainwright_trainer.loader.interface import Loader
from trainwright_trainer.loader.layout import layout_of
from trainwright_trainer.loop.arguments import Hooks, TrainingArguments
from trainwright_trainer.loop.trainer import Trainer
from trainwright_trainer.metrics.model import model_metrics
from trainwright_trainer.models.model import Model
from trainwright_trainer.strategies import engine_for

WARM_UP = 3
Clock = Callable[[], float]
CPU: Clock = time.process_time
"""The CPU time of all threads. With one thread it is the time of a free machine, also beside other processes."""


def ratio(ours: Callable[[], float], theirs: Callable[[], float], rounds: int) -> float:
    """The median of their seconds by ours, in turn."""
    return statistics.median(theirs() / ours() for _ in range(rounds))


def seconds_per_step(times: Sequence[float], warm_up: int = WARM_UP) -> float:
    """From the times after each step, without the first steps."""
    return (times[-1] - times[warm_up]) / (len(times) - 1 - warm_up)


@dataclass(frozen=True)
class Ready:
    """A `Loader` of batches that are in memory as the model reads them."""

    batches: Sequence[Batch]

    def __len__(self) -> int:
        return sum(len(batch.rows) for batch in self.batches)

    def epoch(self, epoch: int, from_row: int, cut: Cut) -> Iterator[Batch]:  # noqa: ARG002
        return iter(self.batches)

    def sequential(self, size: int, start: int = 0, stop: int | None = None) -> Iterator[Batch]:  # noqa: ARG002
        return iter([self.batches[0].part(slice(0, size))])

    def unordered(self, size: int, rows: int, first: int, last: int) -> Iterator[Batch]:
        return self.sequential(size, first * size, min(last * size, rows))


class _Times:
    def __init__(self, clock: Clock) -> None:
        self._clock, self.found = clock, list[float]()

    def on_event(self, event: Event) -> None:
        if isinstance(event, Stepped):
            self.found.append(self._clock())

    def close(self) -> None: ...


def train(config: ModelConfig, known: Any, rows: Loader, clock: Clock = CPU, warm_up: int = WARM_UP) -> float:
    """Train by our loop for the steps of the config. Returns the seconds per step. `known`: the statistics."""
    times = _Times(clock)
    model = Model(config, known, layout_of(config, known), 0)
    few = Ready([next(iter(rows.sequential(4)))])
    Trainer(
        TrainingArguments(config, batching(config.trainer, 1, norm_batches(model)), 0, CheckpointPolicy()),
        model,
        {"train": rows, "validation": few},
        partial(model_metrics, config, known),
        ranks=OneRank(),
        make_engine=engine_for(None, OneRank()),
        hooks=Hooks([times]),
    ).train()
    return seconds_per_step(times.found, warm_up)
