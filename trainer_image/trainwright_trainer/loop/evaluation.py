"""The scores of a split: every valid row counts once."""

from __future__ import annotations

from itertools import islice

import torch

from trainwright_trainer.loader.batch import Batch
from trainwright_trainer.loader.materialised import Split, moved
from trainwright_trainer.loop.seams import Metrics, Trainable
from trainwright_trainer.progress.events import Scores


def evaluate(
    model: Trainable,
    split: Split,
    eval_batch_size: int,
    metrics: Metrics,
    *,
    device: torch.device | None = None,
    steps: int | None = None,
) -> Scores:
    """The scores of all rows of `split`, or of its first `steps` batches. Leaves the model in evaluation mode."""
    metrics.reset()
    model.eval()
    with torch.inference_mode():
        for batch in islice(split.batches(eval_batch_size), steps):
            there = Batch(moved(batch.floats, device), moved(batch.ints, device), batch.rows)
            logits = model(there)
            metrics.update(logits, model.losses(logits, there), there)
    return metrics.compute()
