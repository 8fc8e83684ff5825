"""`batch_size: auto`: the smallest power of two whose double is no faster, in rows a second.

Sizes double from 1 while they are at most a fifth of the training rows, at most the limit, and at most 20 of them.
Each is timed as the median of five steps. All of it happens on scratch copies: the model that is trained later, its
optimizer and its metrics are never touched.
"""

from __future__ import annotations

import gc
import statistics
import time
from collections.abc import Callable
from copy import deepcopy

import torch

from trainwright_api.config.trainer import TrainerConfig
from trainwright_trainer.errors import EnvironmentFailure
from trainwright_trainer.loader.materialised import Split, moved
from trainwright_trainer.loop.precision import Precision
from trainwright_trainer.loop.seams import Trainable
from trainwright_trainer.loop.step import Step
from trainwright_trainer.memory import out_of_memory
from trainwright_trainer.optim.optimizers import make_optimizer
from trainwright_trainer.strategies.interface import Strategy
from trainwright_trainer.strategies.single import Single

_SHARE = 0.2
_TRIALS = 20
_STEPS = 5


def fastest_batch_size(
    trainer: TrainerConfig,
    model: Trainable,
    train: Split,
    limit: int,
    *,
    strategy: Strategy | None = None,
    clock: Callable[[], float] = time.perf_counter,
) -> int:
    """The batch size that `search` finds with real steps on the first rows of `train`.

    Raises `EnvironmentFailure` if there is no memory for a single row.
    """
    step = training_step(trainer, model, train, strategy or Single())
    return search(lambda rows: seconds_of(lambda: step(rows), clock), len(train), limit)


def search(seconds: Callable[[int], float], train_rows: int, limit: int) -> int:
    """`seconds(rows)` is what a step of so many rows takes; it may run out of memory."""
    best, fastest = 1, 0.0
    for size in candidates(train_rows, limit):
        try:
            speed = size / max(seconds(size), 1e-12)
        except (MemoryError, RuntimeError) as error:
            if not out_of_memory(error):
                raise
            if size == 1:
                raise EnvironmentFailure(
                    "out of memory in the search for a batch size: a single row does not fit. "
                    "Use a smaller model or a machine with more memory."
                ) from error
            break
        finally:
            gc.collect()
        if speed < fastest:
            break
        best, fastest = size, speed
    return best


def candidates(train_rows: int, limit: int) -> list[int]:
    """The sizes that may be tried, in order; 1 always is."""
    most = max(1, min(int(_SHARE * train_rows), limit))
    return [1 << power for power in range(_TRIALS) if 1 << power <= most]


def seconds_of(step: Callable[[], object], clock: Callable[[], float]) -> float:
    """The median over five steps."""
    found = []
    for _ in range(_STEPS):
        before = clock()
        step()
        found.append(clock() - before)
    return statistics.median(found)


def training_step(trainer: TrainerConfig, model: Trainable, train: Split, strategy: Strategy) -> Callable[[int], None]:
    """A real step on the first rows of `train`, on a copy of the model. Returns when the device is done with it."""
    scratch = deepcopy(model)
    scratch.train()
    parameters = [one for _, one in scratch.named_parameters() if one.requires_grad]
    optimizer = make_optimizer(trainer.optimizer, parameters, 0.0)
    most = candidates(len(train), len(train))[-1]
    step = Step(scratch, optimizer, strategy, Precision(trainer, strategy.device), trainer, None, most)

    def run(rows: int) -> None:
        step(moved(next(train.batches(rows)), strategy.device), rows, 0.0)
        if strategy.device.type == "cuda":
            torch.cuda.synchronize(strategy.device)

    return run
