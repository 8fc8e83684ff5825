"""A checkpoint's content in memory: tensors copied at an optimizer-step boundary, and state as plain JSON."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from trainwright_trainer.rundir.blocks import Blocks


@dataclass(frozen=True, order=True)
class Position:
    """The progress of training: optimizer steps since the start, the epoch, and the rows of the epoch that are done."""

    step: int
    epoch: int
    rows: int


@dataclass(frozen=True)
class Snapshot:
    """One rank's part of the state of training at `position`.

    `tensors`: blocks on the CPU, by dotted name (`model.…`, `optimizer.…`, `metrics.<rank>.…`). `state`: plain JSON
    (scheduler, early stopping, metrics history), the same on every rank. `score`: the value of `scoreAttribute`, if
    known. `best_step`: the step of the best weights so far, if they are known. `best`: these weights by name, if they
    are not those of `tensors`.
    """

    position: Position
    tensors: Blocks
    state: Mapping[str, Any]
    score: float | None = None
    best_step: int | None = None
    best: Blocks = field(default_factory=dict)

    @property
    def nbytes(self) -> int:
        return sum(block.data.nbytes for blocks in (self.tensors, self.best) for block in blocks.values())
