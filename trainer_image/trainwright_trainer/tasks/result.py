"""The return values of the tasks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from trainwright_trainer.callbacks.events import Evaluated, Scores
from trainwright_trainer.errors import Outcome
from trainwright_trainer.storage.location import Place

if TYPE_CHECKING:
    import pyarrow as pa


@dataclass(frozen=True)
class Result:
    """Of a training. `test` is empty if the split has no test rows."""

    output: Place
    model: Place
    report: Place
    test: Scores
    history: Sequence[Evaluated]
    best_epoch: int
    outcome: Outcome
    seconds: float

    @property
    def reason(self) -> str:
        """Why training ended: epochs, train_steps or early stopping."""
        return self.outcome.reason


@dataclass(frozen=True)
class TaskSummary:
    """Of a task that does not train: one line, and the scores or the predictions."""

    line: str
    test: Scores = field(default_factory=dict)
    predictions: pa.Table | None = None
