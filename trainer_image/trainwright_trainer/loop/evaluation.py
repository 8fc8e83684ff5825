"""The scores of a split. Every valid row counts once, on one of the ranks."""

from __future__ import annotations

import math
from itertools import islice

import torch

from trainwright_trainer.callbacks.events import Scores
from trainwright_trainer.loader.materialised import Split, moved
from trainwright_trainer.loop.protocols import Metrics, Trainable
from trainwright_trainer.strategies.interface import Strategy
from trainwright_trainer.strategies.single import Single


def evaluate(
    model: Trainable,
    split: Split,
    eval_batch_size: int,
    metrics: Metrics,
    *,
    strategy: Strategy | None = None,
    steps: int | None = None,
) -> Scores:
    """The scores of all rows of `split`, or of its first `steps` batches. Leaves the model in evaluation mode.

    Each rank evaluates its share of the batches; the batches are the same for any number of ranks. Afterwards `metrics`
    on rank 0 hold all rows.
    """
    metrics.reset()
    model.eval()
    strategy = strategy or Single()
    batches = math.ceil(len(split) / eval_batch_size)
    batches = batches if steps is None else min(batches, steps)
    first, last = (batches * rank // strategy.world for rank in (strategy.rank, strategy.rank + 1))
    with torch.inference_mode():
        for batch in islice(split.batches(eval_batch_size), first, last):
            there = moved(batch, strategy.device)
            logits = model(there)
            metrics.update(logits, model.losses(logits, there), there)
    return scores_of_all(metrics, strategy)


def scores_of_all(metrics: Metrics, strategy: Strategy) -> Scores:
    """The scores of all ranks' rows, bit for bit equal on each rank. Afterwards `metrics` on rank 0 hold all rows."""
    if strategy.world == 1:
        return metrics.compute()
    parts = strategy.gather(metrics.tensors())
    if parts:
        metrics.reset()
    for part in parts:
        metrics.add(part)
    return strategy.share(metrics.compute() if parts else {})
