"""An MLP on numeric columns with batches of 65,536 rows: the time of a step beside a hand-written loop, and how busy
the GPU is."""

from __future__ import annotations

import statistics
from itertools import pairwise

import torch
from torch import nn
from torch.nn.functional import binary_cross_entropy_with_logits

from bench.gpu.sides import DEVICE, Busy, Clock, rows_of, train
from bench.loop import CLIP, INPUTS, RATE, STATISTICS, config
from bench.results import Result, result
from trainwright_trainer.distributed.ranks import OneRank
from trainwright_trainer.loader.encoded_rows import EncodedRows
from trainwright_trainer.strategies.single import Single

BATCH, BATCHES = 65_536, 32
SIZES = ((256, 2), (1024, 3))
WARM_UP, STEPS, ROUNDS, BUSY_STEPS = 20, 200, 5, 1000


def results() -> dict[str, Result]:
    draws = torch.Generator().manual_seed(0)
    x = torch.randn(BATCH * BATCHES, INPUTS, generator=draws)
    y = x.sum(1) + torch.randn(len(x), generator=draws) > 0
    rows = rows_of(torch.cat([x, y[:, None].float()], 1), torch.zeros((len(x), 0), dtype=torch.int64))
    found: dict[str, Result] = {}
    for width, layers in SIZES:
        name = f"MLP {layers} × {width}, batch {BATCH:,}"
        rounds = [(by_hand(rows.floats, width, layers), ours(rows, width, layers)) for _ in range(ROUNDS)]
        busy = Busy(WARM_UP, WARM_UP + 100)
        _train(rows, width, layers, BUSY_STEPS, busy)
        found |= {
            f"{name}: by hand": result(statistics.median(1 / hand for hand, _ in rounds), "steps/s"),
            f"{name}: ours": result(statistics.median(1 / own for _, own in rounds), "steps/s"),
            f"{name}: ratio": result(statistics.median(hand / own for hand, own in rounds), "×"),
            f"{name}: GPU busy": result(100 * busy.share(), "%", "≥ 90"),
        }
        sampled = busy.sampled()
        if sampled is not None:
            found[f"{name}: GPU busy, by nvidia-smi"] = result(100 * sampled, "%")
    return found


def ours(rows: EncodedRows, width: int, layers: int) -> float:
    clock = Clock(WARM_UP, STEPS)
    _train(rows, width, layers, STEPS, clock)
    return clock.seconds_per_step


def _train(rows: EncodedRows, width: int, layers: int, steps: int, listener: Clock | Busy) -> None:
    made = config(width, layers, BATCH, steps, steps_per_checkpoint=steps)
    train(made, STATISTICS, rows, OneRank(DEVICE), Single, [listener])


def by_hand(floats: torch.Tensor, width: int, layers: int) -> float:
    """The shortest loop, with all rows on the GPU."""
    sizes = [INPUTS, *[width] * layers]
    parts = [part for one, other in pairwise(sizes) for part in (nn.Linear(one, other), nn.ReLU())]
    model = nn.Sequential(*parts, nn.Linear(width, 1)).to(DEVICE)
    optimizer = torch.optim.Adam(model.parameters(), lr=RATE, fused=True)
    rows, clock, step = floats.to(DEVICE), Clock(WARM_UP, STEPS), 0
    while step < STEPS:
        order = torch.randperm(len(rows), device=DEVICE)
        for first in range(0, len(rows), BATCH):
            batch = rows[order[first : first + BATCH]]
            logits = model(batch[:, :INPUTS]).squeeze(1)
            loss = binary_cross_entropy_with_logits(logits, batch[:, INPUTS])
            loss.backward()  # type: ignore[no-untyped-call]
            nn.utils.clip_grad_norm_(model.parameters(), CLIP)
            optimizer.step()
            optimizer.zero_grad()
            step += 1
            clock.at(step)
    return clock.seconds_per_step
