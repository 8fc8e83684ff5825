"""How batch sizes, accumulation, workers and the learning rate meet: pure functions of the trainer section.

The global batch B is what decides the training. It is `effective_batch_size` where that is a number, else
batch_size × gradient_accumulation_steps × workers. How many processes then share B, and in how many passes, changes
only rounding.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from trainwright_api.config.trainer import TrainerConfig
from trainwright_api.problems import Mistakes
from trainwright_trainer.errors import not_built

_POWERS = {"constant": 0.0, "sqrt": 0.5, "linear": 1.0}

# Losses that are a root of a mean: the root of a whole batch is not the sum of the roots of its parts.
ROOTS = frozenset({"root_mean_squared_error", "root_mean_squared_percentage_error"})


@dataclass(frozen=True)
class Batching:
    """Rows of a global batch, rows of one worker's pass at most, and the learning rate before any schedule."""

    global_rows: int
    pass_rows: int
    learning_rate: float

    def to_json(self) -> dict[str, Any]:
        """For resolved.json: what was derived once is never derived again."""
        return asdict(self)

    @classmethod
    def from_json(cls, content: Mapping[str, Any]) -> Batching:
        return cls(**content)

    def passes(self, world: int) -> int:
        """Passes that every one of `world` processes makes for a full global batch."""
        return math.ceil(math.ceil(self.global_rows / world) / self.pass_rows)


def needs_search(trainer: TrainerConfig) -> bool:
    """Whether `batch_size: auto` has to be measured; with the other two numbers given it follows from them."""
    follows = trainer.effective_batch_size != "auto" and trainer.gradient_accumulation_steps != "auto"
    return trainer.batch_size == "auto" and not follows


def passes_of_a_step(trainer: TrainerConfig, workers: int) -> int:
    """How many times a batch size that is searched for is in a global batch."""
    accumulated = 1 if trainer.gradient_accumulation_steps == "auto" else trainer.gradient_accumulation_steps
    return accumulated * workers


def search_limit(trainer: TrainerConfig, workers: int) -> int:
    """The largest batch size that a search may try: no worker's share of a given global batch is exceeded."""
    limit = trainer.max_batch_size or 2**40
    if trainer.effective_batch_size == "auto":
        return limit
    return max(1, min(limit, trainer.effective_batch_size // workers))


def batching(trainer: TrainerConfig, workers: int, found: int | None = None, *, whole: bool = False) -> Batching:
    """What the section means for `workers` of the file. `found` is the searched batch size, where one is needed.

    `whole` is for models with batch norm, whose statistics are of all rows of a global batch, on any number of workers:
    a worker's share is then one pass, and accumulation only makes the batch larger.
    Raises `Mistakes` for `learning_rate: auto`, and ValueError where a search is needed and `found` is missing.
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
    return Batching(rows, rows if whole else min(share, size or share), rate)


def _learning_rate(trainer: TrainerConfig, workers: int) -> float:
    if trainer.learning_rate == "auto":
        raise not_built("config.trainer.learning_rate", "auto", "numbers")
    if trainer.effective_batch_size != "auto":
        return trainer.learning_rate
    factor: float = workers ** _POWERS[trainer.learning_rate_scaling]
    return trainer.learning_rate * factor


def check_losses_add_up(losses: Sequence[str], passes: int) -> None:
    """Refuses a root-of-mean loss that would have to be summed over passes. `losses`: types, by output feature."""
    for position, word in enumerate(losses):
        if word in ROOTS and passes > 1:
            raise Mistakes.one(
                f"config.output_features[{position}].loss.type",
                f"{word} is the root of a mean over the whole batch, and this batch is cut into {passes} passes: "
                "give a batch_size that holds the whole batch, or another loss",
            )
