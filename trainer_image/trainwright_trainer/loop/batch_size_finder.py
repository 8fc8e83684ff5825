"""`batch_size: auto`: the smallest power of two that is nearly as fast, in rows a second, as the fastest.

`search` decides, given a function that returns the seconds of a step; `fastest_batch_size` gives it real steps. They
run on a copy of the model: the model that is trained later, its optimizer and its metrics do not change. On a CPU one
thread computes a step and its CPU time is measured, so other processes hardly change the result.
"""

from __future__ import annotations

import gc
import statistics
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass
from itertools import pairwise
from typing import cast

import numpy as np
import torch
from torch import nn

from trainwright_api.config.trainer import TrainerConfig
from trainwright_trainer.distributed.ranks import OneRank
from trainwright_trainer.errors import EnvironmentFailure
from trainwright_trainer.layers.normalisation import norm_batches
from trainwright_trainer.loader.batch import Batch
from trainwright_trainer.loader.cut import Cut
from trainwright_trainer.loader.interface import Loader
from trainwright_trainer.loop.step_agreement import StepAgreement
from trainwright_trainer.loop.train_step import TrainStep
from trainwright_trainer.models.trainable import Trainable
from trainwright_trainer.runtime.oom import out_of_memory
from trainwright_trainer.runtime.threads import computing_with
from trainwright_trainer.strategies.single import Single

CPU = torch.device("cpu")
_LEAST = 16
_SHARE = 0.2
_MOST_ON_A_CPU = 1024
# The fraction of the greatest speed that is enough. Speed levels off, so chance decides which size is the fastest.
_NEARLY = 0.75
_ROUNDS = 3
_WARM_UP_STEPS = 2
_STEPS = 5
# Long steps run less often: a round of a size ends after the first limit, and a size gets no round after the second.
_SECONDS_OF_A_ROUND = 0.25
_SECONDS_OF_A_SIZE = 2.0
_SLOWDOWNS = 2

Seconds = Callable[[int], float]
Times = dict[int, list[list[float]]]
"""Batch size → seconds of its steps, one list a round."""


@dataclass(frozen=True)
class BatchSize:
    """The batch size, and the speed in rows a second of each measured size."""

    size: int
    speeds: Mapping[int, float]


def fastest_batch_size(
    trainer: TrainerConfig,
    model: Trainable,
    train: Loader,
    sizes: Sequence[int],
    *,
    device: torch.device = CPU,
    clock: Callable[[], float] | None = None,
) -> BatchSize:
    """Run `search` with real steps on the first rows of `train`, computed by one thread.

    Raises `EnvironmentFailure` if the memory does not hold a single row.
    """
    clock = clock or (time.perf_counter if device.type == "cuda" else time.thread_time)
    step = training_step(trainer, model, train, device, sizes[-1])

    def seconds(rows: int) -> float:
        before = clock()
        step(rows)
        return clock() - before

    with computing_with(1):
        found = search(seconds, sizes)
    if device.type == "cuda":
        del step, seconds
        torch.cuda.empty_cache()  # NCCL takes its memory beside torch, which would keep all of the largest step
    return found


def candidates(train_rows: int, limit: int, *, on_cpu: bool = True) -> list[int]:
    """The powers of two from min(16, an eighth of the rows) to a fifth of the rows, at most `limit` (CPU: 1024)."""
    most = max(1, min(int(_SHARE * train_rows), limit, _MOST_ON_A_CPU if on_cpu else limit))
    least = min(max(1, min(_LEAST, train_rows // 8)), most)
    return [1 << power for power in range(least.bit_length() - 1, most.bit_length())]


def search(seconds: Seconds, sizes: Sequence[int]) -> BatchSize:
    """Find the smallest of `sizes` (ascending) that is nearly the fastest, or the largest below them that fits.

    `seconds(rows)` runs one step of `rows` rows and returns its seconds; it may run out of memory. The first round
    measures each size in turn and ends when memory runs out or after two slowdowns in a row. The other rounds measure
    the same sizes again, so that a short load on the machine does not affect one size alone.
    """
    times: Times = {}
    for size in sizes:
        if not _measure(seconds, size, times) or _slows_down(seconds, times):
            break
    for _ in range(_ROUNDS - 1):
        for size in list(times):
            _measure_again(seconds, size, times)
    while times:
        size = nearly_fastest(_speeds(times))
        # Check that the size still fits in the memory that the larger sizes have left.
        if sizes[-1] in times or _measure(seconds, size, times):
            return BatchSize(size, _speeds(times))
    return _smaller(seconds, sizes[0] // 2)


def nearly_fastest(speeds: Mapping[int, float]) -> int:
    """The smallest size whose speed is at least three quarters of the greatest.

    The speeds come from the line that best fits the measured times: seconds per step plus seconds per row. So one wrong
    time hardly changes the result.
    """
    a_step, a_row = _line(speeds)
    smooth = {size: size / (a_step + a_row * size) for size in speeds}
    enough = _NEARLY * max(smooth.values())
    return min(size for size, speed in smooth.items() if speed >= enough)


def _line(speeds: Mapping[int, float]) -> tuple[float, float]:
    """Seconds of a step without rows, and seconds per row, both at least 0. Least squares of the relative errors."""
    if len(speeds) == 1:
        return 1.0, 0.0
    sizes, found = np.array(list(speeds), dtype=float), np.array(list(speeds.values()))
    (a_step, a_row), *_ = np.linalg.lstsq(np.stack([found / sizes, found], axis=1), np.ones(len(sizes)), rcond=None)
    return max(float(a_step), 0.0), max(float(a_row), 0.0)


def _smaller(seconds: Seconds, size: int) -> BatchSize:
    """The largest power of two up to `size` that fits in memory, used when the smallest candidate does not fit."""
    times: Times = {}
    while size and not _measure(seconds, size, times):
        size //= 2
    if not size:
        raise EnvironmentFailure(
            "out of memory in the search for a batch size: a single row does not fit. "
            "Use a smaller model or a machine with more memory. With a strategy that shards the model, give "
            "trainer.batch_size: the search needs the whole model in one process."
        )
    return BatchSize(size, _speeds(times))


def _measure(seconds: Seconds, size: int, times: Times) -> bool:
    """Measure one round of a size. Return False if it does not fit; `times` then loses it and all larger sizes."""
    try:
        times[size] = [*times.get(size, ()), list(_repeated(seconds, size))]
    except (MemoryError, RuntimeError) as error:
        if not out_of_memory(error):
            raise
        for other in [one for one in times if one >= size]:
            del times[other]
        error.__traceback__ = None  # its frames hold the tensors that did not fit
        gc.collect()
        return False
    return True


def _measure_again(seconds: Seconds, size: int, times: Times) -> None:
    if size in times and sum(map(sum, times[size])) < _SECONDS_OF_A_SIZE:
        _measure(seconds, size, times)


def _repeated(seconds: Seconds, size: int) -> Iterator[float]:
    """The seconds of up to five steps, after up to two warm-up steps. Of long steps one of each kind runs."""
    for counted, steps in ((False, _WARM_UP_STEPS), (True, _STEPS)):
        spent = 0.0
        while steps and spent < _SECONDS_OF_A_ROUND:
            taken = seconds(size)
            spent, steps = spent + taken, steps - 1
            if counted:
                yield taken


def _speeds(times: Times) -> dict[int, float]:
    """Rows a second, by the median of the best round: other processes make steps slower, never faster."""
    return {size: size / max(min(map(statistics.median, rounds)), 1e-12) for size, rounds in times.items()}


def _slows_down(seconds: Seconds, times: Times) -> bool:
    """True if each of the last two sizes is slower than the one before it, and a second measurement confirms it."""
    last = list(times)[-_SLOWDOWNS - 1 :]
    if len(last) <= _SLOWDOWNS or not _descends(times, last):
        return False
    for size in last:
        _measure_again(seconds, size, times)
    return _descends(times, last)


def _descends(times: Times, sizes: Sequence[int]) -> bool:
    speeds = _speeds(times)
    return all(speeds.get(later, 0.0) < speeds.get(earlier, 0.0) for earlier, later in pairwise(sizes))


def training_step(
    trainer: TrainerConfig, model: Trainable, train: Loader, device: torch.device, most: int
) -> Callable[[int], None]:
    """Return a function that runs one real step on the first `rows` rows of `train`, on a copy of the model.

    `rows` is at most `most`. The function returns when the device has finished the step.
    """
    scratch = deepcopy(model)
    scratch.train()
    ranks = OneRank(device)
    cut = Cut(most, virtual_rows=norm_batches(cast(nn.Module, model)).virtual)
    step = TrainStep(Single(scratch, trainer, 0.0, ranks), StepAgreement(ranks, tuple), None, cut)

    held: dict[int, Batch] = {}

    def run(rows: int) -> None:
        if rows not in held:
            held.clear()
            held[rows] = next(train.sequential(rows, 0, rows))
        step(held[rows], rows, 0.0)
        if device.type == "cuda":
            torch.cuda.synchronize(device)

    return run
