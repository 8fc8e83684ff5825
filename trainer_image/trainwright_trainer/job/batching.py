"""Batch sizes, gradient accumulation, workers and the learning rate: pure functions of the trainer section.

The global batch B decides the training. It is `effective_batch_size` if that is a number, else
batch_size × gradient_accumulation_steps × workers. The number of processes that share B, and their number of passes,
change only rounding.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from trainwright_api.config.losses import ROOTS
from trainwright_api.config.trainer import TrainerConfig
from trainwright_api.problems import Mistakes
from trainwright_trainer.errors import not_built
from trainwright_trainer.layers.normalisation import NormBatches
from trainwright_trainer.loader.cut import Cut

_POWERS = {"constant": 0.0, "sqrt": 0.5, "linear": 1.0}


@dataclass(frozen=True)
class Batching:
    """The rows of a global batch, the maximum rows of a worker's pass, and the learning rate before any schedule.

    `virtual_rows`: the maximum rows of a virtual batch of ghost norm; None without ghost norm.
    """

    global_rows: int
    pass_rows: int
    learning_rate: float
    virtual_rows: int | None = None

    def to_json(self) -> dict[str, Any]:
        """For resolved.json, from which later attempts read it."""
        return asdict(self)

    @classmethod
    def from_json(cls, content: Mapping[str, Any]) -> Batching:
        return cls(**content)

    def passes(self, world: int) -> int:
        """The passes of each of `world` processes for a full global batch."""
        return len(self.cut(self.global_rows, 0, world).passes(self.global_rows))

    def cut(self, global_rows: int, rank: int, world: int) -> Cut:
        """`global_rows`: at most those of the data."""
        return Cut(global_rows, rank, world, self.pass_rows, self.virtual_rows)


def needs_search(trainer: TrainerConfig) -> bool:
    """True if `batch_size: auto` has to be measured. It is computed if the other two numbers are given."""
    follows = trainer.effective_batch_size != "auto" and trainer.gradient_accumulation_steps != "auto"
    return trainer.batch_size == "auto" and not follows


def passes_of_a_step(trainer: TrainerConfig, workers: int) -> int:
    """The number of passes of a step, over all workers: the global batch divided by the searched batch size."""
    accumulated = 1 if trainer.gradient_accumulation_steps == "auto" else trainer.gradient_accumulation_steps
    return accumulated * workers


def search_limit(trainer: TrainerConfig, workers: int) -> int:
    """The largest batch size that a search may try. It is at most a worker's share of a given global batch."""
    limit = trainer.max_batch_size or 2**40
    if trainer.effective_batch_size == "auto":
        return limit
    return max(1, min(limit, trainer.effective_batch_size // workers))


def batching(trainer: TrainerConfig, workers: int, norms: NormBatches, found: int | None = None) -> Batching:
    """Resolve the section for the file's number of workers. `found`: the searched batch size, if one is needed.

    The statistics of batch norm cover all rows of a global batch, on any number of workers: a worker's share is then
    one pass, and accumulation only makes the batch larger. A virtual batch of ghost norm has at most `batch_size` rows,
    unless that follows from `effective_batch_size` and the number of workers, which must not change the curve.
    Raises `Mistakes` for `learning_rate: auto`, and `ValueError` if a search is needed and `found` is missing.
    """
    accumulated = 1 if trainer.gradient_accumulation_steps == "auto" else trainer.gradient_accumulation_steps
    size = found if trainer.batch_size == "auto" else trainer.batch_size
    rate = _learning_rate(trainer, workers)
    if trainer.effective_batch_size == "auto":
        if size is None:
            raise ValueError("batch_size is auto: it must be searched for first")
        rows, share = size * accumulated * workers, size
    else:
        rows, share = trainer.effective_batch_size, math.ceil(trainer.effective_batch_size / (accumulated * workers))
    follows = trainer.batch_size == "auto" and trainer.effective_batch_size != "auto"
    virtual = None if norms.virtual is None else min(norms.virtual, rows if follows else size or rows)
    return Batching(rows, rows if norms.whole else min(share, size or share), rate, virtual)


def _learning_rate(trainer: TrainerConfig, workers: int) -> float:
    if trainer.learning_rate == "auto":
        raise not_built("config.trainer.learning_rate", "auto", "numbers")
    if trainer.effective_batch_size != "auto":
        return trainer.learning_rate
    factor: float = workers ** _POWERS[trainer.learning_rate_scaling]
    return trainer.learning_rate * factor


def check_losses_add_up(losses: Sequence[str], passes: int) -> None:
    """Raise `Mistakes` for a root-of-mean loss if a batch takes several passes. `losses`: types, by output feature."""
    for position, word in enumerate(losses):
        if word in ROOTS and passes > 1:
            raise Mistakes.one(
                f"config.output_features[{position}].loss.type",
                f"{word} is the root of a mean over the whole batch, and this batch is cut into {passes} passes: "
                "give a batch_size that holds the whole batch, or another loss",
            )
