"""What a finished training hands back to Python."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from trainwright_trainer.progress.events import Evaluated, Scores


@dataclass(frozen=True)
class Result:
    """`test` is empty where the split has no test rows. `reason`: epochs, train_steps or early stopping."""

    output: Path
    model: Path
    report: Path
    test: Scores
    history: Sequence[Evaluated]
    best_epoch: int
    reason: str
    seconds: float
