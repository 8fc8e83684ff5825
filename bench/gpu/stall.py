"""The wait of the GPU for data, if each step takes it a millisecond: rows in its memory, rows that are copied from the
CPU's memory, and windows of files."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from unittest.mock import patch

import torch

from bench.data import BATCHES, WINDOW_ROWS, epoch, made, prepared
from bench.gpu.sides import DEVICE
from bench.results import Result, result
from trainwright_trainer.loader import device
from trainwright_trainer.loader.batch import Batch

ROWS, STEP_SECONDS, MOST_STEPS = 4_000_000, 0.001, 1500
STEPS_AHEAD = 8


def results() -> dict[str, Result]:
    cycles = _cycles(STEP_SECONDS)
    found: dict[str, Result] = {}
    with tempfile.TemporaryDirectory(prefix="trainwright-bench-") as folder:
        held, stored = prepared(ROWS, Path(folder))
        with patch.object(device, "SHARE", 0.0):
            copied = made(held, None, DEVICE)
        kinds = {
            "rows on the GPU": made(held, None, DEVICE),
            "rows on the CPU": copied,
            "windows of files": made(stored, WINDOW_ROWS, DEVICE),
        }
        for kind, loader in kinds.items():
            for size in BATCHES:
                for number in (0, 1):  # the first epoch has no order yet that was made ahead
                    share = waiting(epoch(loader, size, number), cycles)
                found[f"stall on a GPU, {kind}, batches of {size:,}"] = result(100 * share, "%", "≤ 2")
    return found


def waiting(batches: Iterator[Batch], cycles: int) -> float:
    """The share of the time in which the GPU does not compute a step. At most `STEPS_AHEAD` of them are queued."""
    queued: list[torch.cuda.Event] = []
    steps = 0
    torch.cuda.synchronize()
    start = time.perf_counter()
    for batch in batches:
        batch.floats.sum()  # the step needs the batch
        torch.cuda._sleep(cycles)  # type: ignore[no-untyped-call]
        queued.append(torch.cuda.current_stream().record_event())
        if len(queued) > STEPS_AHEAD:
            queued.pop(0).synchronize()
        steps += 1
        if steps == MOST_STEPS:
            break
    torch.cuda.synchronize()
    seconds = time.perf_counter() - start
    return max(0.0, 1 - steps * STEP_SECONDS / seconds)


def _cycles(seconds: float) -> int:
    """The cycles of a kernel that only waits and takes `seconds`."""
    cycles, found = 1_000_000, 0.0
    for _ in range(20):
        torch.cuda.synchronize()
        start = time.perf_counter()
        for _ in range(10):
            torch.cuda._sleep(cycles)  # type: ignore[no-untyped-call]
        torch.cuda.synchronize()
        found = (time.perf_counter() - start) / 10
        cycles = round(cycles * seconds / found)
    return cycles
