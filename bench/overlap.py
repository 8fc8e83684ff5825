"""The overlap of communication and the backward pass, from a trace of torch's profiler on one of two ranks.

python -m bench.overlap [--dry]

The gradients of a step are summed in several communications. One overlaps if matrices are multiplied while it runs. The
last one cannot: all gradients exist when it starts.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any
from unittest.mock import patch

import numpy as np
import torch
from torch._C._profiler import _ExperimentalConfig
from torch.autograd.profiler_util import FunctionEvent
from torch.profiler import ProfilerActivity, profile, record_function

from bench.loop import BOOK, INPUTS, STATISTICS, config, data
from bench.ranks import on_ranks
from bench.results import Result, record, result
from trainwright_api.resource.strategy import Strategy
from trainwright_trainer.distributed.process_group import ProcessGroup
from trainwright_trainer.loader.batch import Batch
from trainwright_trainer.loader.layout import layout_of
from trainwright_trainer.models.model import Model
from trainwright_trainer.strategies import engine_for
from trainwright_trainer.strategies.interface import Engine

WIDTH, LAYERS, ROWS, RANKS, STEPS = 2048, 8, 256, 2, 3
OVERLAP = {"overlap_comm": True, "reduce_bucket_size": 5_000_000}
STRATEGIES: dict[str, dict[str, Any]] = {
    "ddp": {"type": "ddp"},
    "fsdp": {"type": "fsdp"},
    "ZeRO 2": {"type": "deepspeed", "zero_optimization": {"stage": 2, **OVERLAP}},
    "ZeRO 3": {"type": "deepspeed", "zero_optimization": {"stage": 3, **OVERLAP}},
    "horovod": {"type": "horovod"},
}
BACKWARD, PRODUCT, HOROVOD = "backward pass", "aten::mm", "horovod: sum"
# gloo runs a reduce-scatter as a sum. Horovod's runs from its start to the end of the backward pass at most.
SUMS = ("gloo:all_reduce", HOROVOD)


def step(engine: Engine, batch: Batch) -> None:
    losses = engine.model.losses(engine.forward(batch, last=True), batch)
    loss = engine.model.total({name: of_rows.sum() / (RANKS * ROWS) for name, of_rows in losses.items()})
    with record_function(BACKWARD):
        engine.accumulate(loss)
    engine.update(0.001)


@contextmanager
def recording_horovod(strategy: str) -> Iterator[None]:
    """Mark the start of each sum of Horovod in the trace: its operations are not torch's."""
    if strategy != "horovod":
        yield
        return
    import horovod.torch.optimizer as of_horovod

    original: Callable[..., Any] = of_horovod.grouped_allreduce_async_

    def recorded(*given: Any, **named: Any) -> Any:
        with record_function(HOROVOD):
            return original(*given, **named)

    with patch.object(of_horovod, "grouped_allreduce_async_", recorded):
        yield


def overlapping(events: list[FunctionEvent]) -> tuple[int, int]:
    """The sums of gradients that start in backward passes, and those of them beside which matrices are multiplied."""
    products = [one.time_range for one in events if one.name == PRODUCT]
    all_, beside = 0, 0
    for backward in (one.time_range for one in events if one.name == BACKWARD):
        for one in events:
            if one.name in SUMS and backward.start <= one.time_range.start <= backward.end:
                end = backward.end if one.name == HOROVOD else one.time_range.end
                all_ += 1
                beside += any(product.start < end and one.time_range.start < product.end for product in products)
    return all_, beside


def measure(strategy: str) -> str:
    """Trace some steps on this rank. Return the two numbers of `overlapping`."""
    made, rows = config(WIDTH, LAYERS, ROWS, 1), data(ROWS)
    section = Strategy.model_validate(STRATEGIES[strategy])
    model = Model(made, STATISTICS, layout_of(made, STATISTICS), 0)
    ranks = ProcessGroup()
    engine = engine_for(section, ranks)(model, made.trainer, 0.001, ranks)
    batch = Batch(rows[:, : INPUTS + 1], torch.zeros((ROWS, 0), dtype=torch.int64), np.arange(ROWS))
    with recording_horovod(strategy):
        for _ in range(2):  # torch's DDP rearranges its buckets in the first step
            step(engine, batch)
        # ZeRO's sums are started in a thread.
        of_all_threads = _ExperimentalConfig(profile_all_threads=True)
        with profile(activities=[ProfilerActivity.CPU], experimental_config=of_all_threads) as trace:
            for _ in range(STEPS):
                step(engine, batch)
    engine.finish()
    return " ".join(map(str, overlapping(list(trace.events() or []))))


def measured(strategy: str) -> dict[str, Result]:
    sums, beside = map(int, on_ranks(RANKS, measure, strategy).split())
    if not sums:
        raise RuntimeError(f"{strategy}: the trace shows no sum of gradients in the backward pass")
    return {
        f"{strategy}: sums of gradients per step": result(sums / STEPS, "sums"),
        f"{strategy}: of these, beside products of matrices": result(beside / STEPS, "sums"),
    }


def main() -> None:
    parser = argparse.ArgumentParser(prog="bench.overlap", description="Communication beside the backward pass.")
    parser.add_argument("--dry", action="store_true", help="print, and write nothing")
    parser.add_argument("--only", choices=list(STRATEGIES), help="one strategy")
    options = parser.parse_args()
    for strategy in STRATEGIES:
        if options.only in (None, strategy):
            record(measured(strategy), BOOK, dry=options.dry)


if __name__ == "__main__":
    main()
