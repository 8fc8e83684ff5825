"""The training loop beside a hand-written one: DDP on two ranks, and the price of checkpoints.

python -m bench.loop [--dry] [--only ddp|checkpoints]

ddp: two ranks with gloo and one thread each train the same network on the same batches, by torch's DDP and by ours, in
turn. checkpoints: one process trains 100 M parameters, with a checkpoint every 30 s and without, in turn. Every process
keeps its memory between steps as a run does, so both sides have the gain.
"""

from __future__ import annotations

import argparse
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import nn
from torch.nn.functional import binary_cross_entropy_with_logits
from torch.nn.parallel import DistributedDataParallel

from bench.ranks import on_ranks
from bench.results import HERE, Book, Result, record, result
from trainwright_api.config import ModelConfig, resolve
from trainwright_api.resource.job import CheckpointPolicy
from trainwright_api.resource.strategy import Strategy
from trainwright_trainer.callbacks.events import Event, Listener, Stepped
from trainwright_trainer.distributed.process_group import ProcessGroup
from trainwright_trainer.distributed.ranks import OneRank, Ranks
from trainwright_trainer.job.batching import batching
from trainwright_trainer.layers.normalisation import NormBatches
from trainwright_trainer.loader.encoded_rows import EncodedRows
from trainwright_trainer.loader.epoch_order import EpochOrder
from trainwright_trainer.loader.layout import layout_of
from trainwright_trainer.loader.materialised import Materialised
from trainwright_trainer.loop.arguments import Hooks, TrainingArguments
from trainwright_trainer.loop.protocols import Checkpoints
from trainwright_trainer.loop.trainer import Trainer
from trainwright_trainer.metrics.model import model_metrics
from trainwright_trainer.models.model import Model
from trainwright_trainer.rundir.retention import Fence
from trainwright_trainer.rundir.writer import CheckpointWriter
from trainwright_trainer.runtime.allocator import keep_memory_between_steps
from trainwright_trainer.storage.local import FolderStorage
from trainwright_trainer.strategies import engine_for

INPUTS, RATE, CLIP = 16, 0.001, 0.5
BATCHES = (1024, 8192)
WIDTH, LAYERS, RANKS, ROUNDS, STEPS, WARM_UP = 256, 2, 2, 31, 120, 20
LARGE_WIDTH, LARGE_LAYERS, LARGE_BATCH = 4096, 7, 64
SECONDS_BETWEEN_CHECKPOINTS, SECONDS = 30.0, 95.0
NUMBER = {"type": "number", "mean": 0.0, "std": 1.0, "normalization": None, "scale": 1.0, "shift": 0.0}
STATISTICS = {f"x{i}": NUMBER for i in range(INPUTS)} | {
    "y": {"type": "binary", "counts": [1, 1], "true": "yes", "false": "no"}
}
BOOK = Book(HERE / "loop.json", "<!-- results: make bench-loop writes this table -->")


class Clock:
    """Measures the time per step from the events of a training, without the first steps."""

    def __init__(self) -> None:
        self.times: list[float] = []

    def on_event(self, event: Event) -> None:
        if isinstance(event, Stepped):
            self.times.append(time.perf_counter())

    def close(self) -> None: ...

    @property
    def seconds_per_step(self) -> float:
        return (self.times[-1] - self.times[WARM_UP]) / (len(self.times) - 1 - WARM_UP)


def data(rows: int) -> torch.Tensor:
    """[rows, INPUTS + 1]: inputs, and a target that depends on them."""
    draws = np.random.default_rng(0)
    x = draws.normal(size=(rows, INPUTS))
    y = x.sum(axis=1) + draws.normal(size=rows) > 0
    return torch.from_numpy(np.hstack([x, y[:, None]])).float()


def trainer(batch: int, steps: int, **settings: Any) -> dict[str, Any]:
    """The section of the config."""
    usual = {
        "effective_batch_size": batch,
        "gradient_accumulation_steps": 1,
        "train_steps": steps,
        "early_stop": -1,
        "learning_rate": RATE,
        "optimizer": {"type": "adam"},
        "gradient_clipping": {"clipglobalnorm": CLIP},
    }
    return {**usual, **settings}


def config(width: int, layers: int, batch: int, steps: int, **settings: Any) -> ModelConfig:
    return resolve(
        ModelConfig.model_validate(
            {
                "input_features": [{"name": f"x{i}", "type": "number"} for i in range(INPUTS)],
                "output_features": [{"name": "y", "type": "binary"}],
                "combiner": {"type": "concat", "num_fc_layers": layers, "output_size": width},
                "trainer": trainer(batch, steps, **settings),
            }
        )
    )


def train(
    made: ModelConfig,
    rows: torch.Tensor,
    ranks: Ranks,
    *,
    every_seconds: float = 0,
    checkpoints: Checkpoints | None = None,
    stop: Callable[[], bool] = bool,
    listeners: Sequence[Listener] = (),
) -> float:
    """Train by our loop. Return the seconds per step. `listeners`: further ones."""
    clock = Clock()
    section = Strategy(type="ddp") if ranks.world > 1 else None
    Trainer(
        TrainingArguments(
            made, batching(made.trainer, ranks.world, NormBatches()), 0, CheckpointPolicy(every_seconds=every_seconds)
        ),
        Model(made, STATISTICS, layout_of(made, STATISTICS), 0),
        {"train": _loader(rows), "validation": _loader(rows[:8])},
        partial(model_metrics, made, STATISTICS),
        ranks=ranks,
        make_engine=engine_for(section, ranks),
        hooks=Hooks([clock, *listeners], checkpoints, stop),
    ).train()
    return clock.seconds_per_step


def _loader(rows: torch.Tensor) -> Materialised:
    held = EncodedRows(rows, torch.zeros((len(rows), 0), dtype=torch.int64), np.arange(len(rows)))
    return Materialised(held, EpochOrder(0))


def train_by_hand(rows: torch.Tensor, rank: int, size: int) -> float:
    """The shortest loop with the same arithmetic, in plain torch. Return the seconds per step."""
    sizes = [INPUTS, *[WIDTH] * LAYERS]
    parts = [part for one, other in pairwise(sizes) for part in (nn.Linear(one, other), nn.ReLU())]
    model = DistributedDataParallel(nn.Sequential(*parts, nn.Linear(WIDTH, 1)), gradient_as_bucket_view=True)
    optimizer = torch.optim.Adam(model.parameters(), lr=RATE, fused=True)
    own, times = size // RANKS, []
    order = torch.randperm(len(rows), generator=torch.Generator().manual_seed(0))
    for first in range(0, len(rows) - size + 1, size):
        batch = rows[order[first + rank * own : first + (rank + 1) * own]]
        logits = model(batch[:, :INPUTS]).squeeze(1)
        loss = binary_cross_entropy_with_logits(logits, batch[:, INPUTS], reduction="sum") / own
        loss.backward()  # type: ignore[no-untyped-call]
        nn.utils.clip_grad_norm_(model.parameters(), CLIP)
        optimizer.step()
        optimizer.zero_grad()
        times.append(time.perf_counter())
    return (times[-1] - times[WARM_UP]) / (len(times) - 1 - WARM_UP)


def measure_ddp(size: int) -> str:
    """The seconds per step by hand and by ours, a line for each round.

    Each is the first one in turn: the second one of a round is about 2 % slower, even if both are the same.
    """
    rows, made = data(size * STEPS), config(WIDTH, LAYERS, size, STEPS)
    loops = {
        "hand": lambda: train_by_hand(rows, ProcessGroup().rank, size),
        "ours": lambda: train(made, rows, ProcessGroup()),
    }
    turns = [sorted(loops, reverse=number % 2 == 1) for number in range(ROUNDS)]
    rounds = [{name: loops[name]() for name in turn} for turn in turns]
    return "\n".join(f"{seconds['hand']} {seconds['ours']}" for seconds in rounds)


def ddp() -> dict[str, Result]:
    found: dict[str, Result] = {}
    for size in BATCHES:
        lines = on_ranks(RANKS, measure_ddp, size).splitlines()
        rounds = [[float(word) for word in line.split()] for line in lines]
        name = f"ddp, 2 ranks, batch {size:,}"
        found |= {
            f"{name}: by hand": result(statistics.median(1 / hand for hand, _ in rounds), "steps/s"),
            f"{name}: ours": result(statistics.median(1 / ours for _, ours in rounds), "steps/s"),
            f"{name}: ratio": result(statistics.median(hand / ours for hand, ours in rounds), "×", "≥ 0.97"),
        }
    return found


@contextmanager
def writer(folder: str) -> Iterator[CheckpointWriter]:
    policy = CheckpointPolicy(num_to_keep=1)
    made = CheckpointWriter(
        FolderStorage(Path(folder)), Fence(1), policy, lambda name, error: print(name, error or "written"), OneRank()
    )
    try:
        yield made
    finally:
        made.close()


def checkpoints() -> dict[str, Result]:
    """Seconds per step with checkpoints and without. All steps count, also those beside a write."""
    made, rows = config(LARGE_WIDTH, LARGE_LAYERS, LARGE_BATCH, 10**6), data(LARGE_BATCH * 1000)

    def seconds_per_step(every_seconds: float, saved: Checkpoints | None) -> float:
        end = time.monotonic() + SECONDS
        return train(
            made, rows, OneRank(), every_seconds=every_seconds, checkpoints=saved, stop=lambda: time.monotonic() > end
        )

    with tempfile.TemporaryDirectory(prefix="trainwright-bench-") as folder:
        before = seconds_per_step(0, None)
        with writer(folder) as saved:
            beside = seconds_per_step(SECONDS_BETWEEN_CHECKPOINTS, saved)
        after = seconds_per_step(0, None)
    plain = (before + after) / 2
    return {
        "100 M parameters: no checkpoint": result(1 / plain, "steps/s"),
        "100 M parameters: one every 30 s": result(1 / beside, "steps/s"),
        "100 M parameters: time lost": result(100 * (1 - plain / beside), "%", "≤ 3.5"),
    }


PARTS = {"ddp": ddp, "checkpoints": checkpoints}


def main() -> None:
    parser = argparse.ArgumentParser(prog="bench.loop", description="The training loop beside a hand-written one.")
    parser.add_argument("--dry", action="store_true", help="print, and write nothing")
    parser.add_argument("--only", choices=list(PARTS), help="one of the two")
    options = parser.parse_args()
    keep_memory_between_steps()
    for name, part in PARTS.items():
        if options.only in (None, name):
            record(part(), BOOK, dry=options.dry)


if __name__ == "__main__":
    main()
