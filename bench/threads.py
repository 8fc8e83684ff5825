"""Measures from which step size another thread is faster: the source of the table in `runtime/threads.py`.

python -m bench --only threads

Real steps (forward, backward, clipping, Adam) of concat models of several widths on numbers. The size of a step is
parameters × rows. The fastest of all repetitions counts, because it has the least noise. The numbers of threads take
turns.
"""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Callable
from itertools import pairwise

from bench.process import measure, python
from bench.results import Result, result

WIDTHS = (16, 64, 256, 1024)
ROWS = (16, 64, 256, 1024)
INPUTS = 16
REPETITIONS = 200
SECONDS_A_SIZE = 4.0


def run() -> dict[str, Result]:
    """One result per size and number of threads: the speed-up over half as many threads."""
    found = {}
    for size, milliseconds in sorted(json.loads(measure(python("-m", "bench.threads")).output)):
        for (_, slower), (threads, faster) in pairwise(sorted((int(one), ms) for one, ms in milliseconds.items())):
            found[f"threads: {size:,} parameters × rows, {threads} threads"] = result(slower / faster, "× half as many")
    return found


def counts(cpus: int) -> list[int]:
    """Powers of two up to the number of CPUs."""
    return [1 << power for power in range(cpus.bit_length())]


def measured() -> list[tuple[int, dict[int, float]]]:
    """For each step size, the milliseconds by number of threads. Runs in its own process because it imports torch."""
    return [sized(width, rows) for width in WIDTHS for rows in ROWS]


def sized(width: int, rows: int) -> tuple[int, dict[int, float]]:
    import torch

    parameters, step = step_of(width, rows)
    best = dict.fromkeys(counts(len(os.sched_getaffinity(0))), float("inf"))
    end = time.perf_counter() + SECONDS_A_SIZE
    for _ in range(REPETITIONS):
        for threads in best:
            torch.set_num_threads(threads)
            step()
            step()
            best[threads] = min(best[threads], seconds_of(step))
        if time.perf_counter() > end:
            break
    return parameters * rows, {threads: 1000 * seconds for threads, seconds in best.items()}


def seconds_of(step: Callable[[], None]) -> float:
    start = time.perf_counter()
    step()
    return time.perf_counter() - start


def step_of(width: int, rows: int) -> tuple[int, Callable[[], None]]:
    """Return the number of parameters, and a step with `rows` rows."""
    import numpy as np
    import torch

    from trainwright_api.config import ModelConfig, resolve
    from trainwright_trainer.loader.encoded_rows import EncodedRows
    from trainwright_trainer.loader.epoch_order import EpochOrder
    from trainwright_trainer.loader.layout import layout_of
    from trainwright_trainer.loader.materialised import Materialised
    from trainwright_trainer.loop.batch_size_finder import training_step
    from trainwright_trainer.models.model import Model

    names = [f"x{number}" for number in range(INPUTS)]
    config = resolve(
        ModelConfig.model_validate(
            {
                "input_features": [{"name": name, "type": "number"} for name in names],
                "output_features": [{"name": "y", "type": "number"}],
                "combiner": {"type": "concat", "num_fc_layers": 3, "output_size": width},
            }
        )
    )
    number = {"type": "number", "mean": 0.0, "std": 1.0, "normalization": None, "scale": 1.0, "shift": 0.0}
    number["encoded"] = {"mean": 0.0, "std": 1.0}
    statistics = dict.fromkeys([*names, "y"], number)
    layout = layout_of(config, statistics)
    model = Model(config, statistics, layout, seed=0)
    floats = torch.randn(rows, layout.float_width)
    held = EncodedRows(floats, torch.zeros((rows, 0), dtype=torch.int64), np.arange(rows))
    step = training_step(config.trainer, model, Materialised(held, EpochOrder(0)), torch.device("cpu"), rows)
    return sum(parameter.numel() for parameter in model.parameters()), lambda: step(rows)


if __name__ == "__main__":
    json.dump(measured(), sys.stdout)
