"""Training on the GPU by our loop, its time, and the share of it in which the GPU computes."""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np
import torch
from torch.autograd import DeviceType  # type: ignore[attr-defined]
from torch.profiler import ProfilerActivity, profile

from trainwright_api.config import ModelConfig
from trainwright_api.resource.job import CheckpointPolicy
from trainwright_trainer.callbacks.events import Event, Listener, Stepped
from trainwright_trainer.distributed.ranks import Ranks
from trainwright_trainer.job.batching import batching
from trainwright_trainer.layers.normalisation import NormBatches
from trainwright_trainer.loader.device import held_on
from trainwright_trainer.loader.encoded_rows import EncodedRows
from trainwright_trainer.loader.epoch_order import EpochOrder
from trainwright_trainer.loader.layout import layout_of
from trainwright_trainer.loader.materialised import Materialised
from trainwright_trainer.loop.arguments import Hooks, TrainingArguments
from trainwright_trainer.loop.gpu_use import gpu_use
from trainwright_trainer.loop.trainer import Trainer
from trainwright_trainer.metrics.model import model_metrics
from trainwright_trainer.models.model import Model
from trainwright_trainer.strategies.interface import EngineFactory

DEVICE = torch.device("cuda")
Statistics = Mapping[str, Mapping[str, Any]]


def train(
    config: ModelConfig,
    statistics: Statistics,
    rows: EncodedRows,
    ranks: Ranks,
    engine: EngineFactory,
    listeners: Sequence[Listener],
) -> None:
    """Train by our loop. The validation split is eight rows."""
    few = EncodedRows(rows.floats[:8], rows.ints[:8], rows.rows[:8], tuple(column[:8] for column in rows.ragged))
    held = held_on(DEVICE, [rows, few])
    train, validation = (Materialised(each, EpochOrder(0), DEVICE, ahead=True) for each in held)
    Trainer(
        TrainingArguments(config, batching(config.trainer, 1, NormBatches()), 0, CheckpointPolicy(every_seconds=0)),
        Model(config, statistics, layout_of(config, statistics), 0),
        {"train": train, "validation": validation},
        partial(model_metrics, config, statistics),
        ranks=ranks,
        make_engine=engine,
        hooks=Hooks(listeners),
    ).train()


class Clock:
    """The seconds per step between two steps, at which the GPU has done all that is in its queue."""

    def __init__(self, first: int, last: int) -> None:
        self._first, self._last = first, last
        self._times: list[float] = []

    def on_event(self, event: Event) -> None:
        if isinstance(event, Stepped):
            self.at(event.step)

    def at(self, step: int) -> None:
        if step in (self._first, self._last):
            torch.cuda.synchronize()
            self._times.append(time.perf_counter())

    def close(self) -> None: ...

    @property
    def seconds_per_step(self) -> float:
        first, last = self._times
        return (last - first) / (self._last - self._first)


class Busy:
    """The share of the time between two steps in which a kernel runs, from a trace of torch's profiler.

    `sampled` is the mean of NVML's utilisation, which `nvidia-smi` shows, over all steps.
    """

    def __init__(self, first: int, last: int) -> None:
        self._first, self._last = first, last
        self._trace = profile(activities=[ProfilerActivity.CUDA])
        self._use = gpu_use(DEVICE)

    def on_event(self, event: Event) -> None:
        if not isinstance(event, Stepped):
            return
        if event.step == self._first:
            torch.cuda.synchronize()
            self._trace.start()
        elif event.step == self._last:
            torch.cuda.synchronize()
            self._trace.stop()
        if self._use is not None:
            self._use.look(time.monotonic())

    def close(self) -> None: ...

    def share(self) -> float:
        events = self._trace.profiler.kineto_results.events()  # type: ignore[union-attr]
        on_gpu = [one for one in events if one.device_type() == DeviceType.CUDA]
        kernels = [(one.start_ns(), one.end_ns()) for one in on_gpu if not one.name().startswith(("Memcpy", "Memset"))]
        return covered(kernels)

    def sampled(self) -> float | None:
        return None if self._use is None else self._use.mean()


def covered(spans: Iterable[tuple[int, int]]) -> float:
    """The share of the time from the first start to the last end in which at least one of the spans runs."""
    ordered = sorted(spans)
    begin = end = ordered[0][0]
    total = 0
    for start, stop in ordered:
        total += max(0, stop - max(start, end))
        end = max(end, stop)
    return total / (end - begin)


def rows_of(floats: torch.Tensor, ints: torch.Tensor, ragged: Sequence[Any] = ()) -> EncodedRows:
    return EncodedRows(floats, ints, np.arange(len(floats)), tuple(ragged))
