"""Protocols of the metrics and the checkpoints. The loop uses nothing else of them."""

from __future__ import annotations

from typing import Protocol

from trainwright_trainer.callbacks.events import Scores
from trainwright_trainer.loader.batch import Batch
from trainwright_trainer.models.trainable import Tensors
from trainwright_trainer.rundir.snapshot import Snapshot


class Metrics(Protocol):
    """The running scores of one split: a small state to which batches of rows are added."""

    def update(self, logits: Tensors, losses: Tensors, batch: Batch) -> None:
        """Add a batch. The state keeps no autograd graph alive."""
        ...

    def compute(self) -> Scores: ...

    def tensors(self) -> Tensors:
        """The whole state for a checkpoint, as tensors on the CPU that nothing changes later."""
        ...

    def load(self, tensors: Tensors) -> None: ...

    def add(self, tensors: Tensors) -> None:
        """Add the rows of another process, given as its `tensors()`."""
        ...

    def reset(self) -> None: ...


class NewMetrics(Protocol):
    """Makes metrics without rows. `running`: those of training rounds, which are part of each checkpoint."""

    def __call__(self, *, running: bool = False) -> Metrics: ...


class Checkpoints(Protocol):
    """The destination of the snapshots of this rank."""

    def save(self, snapshot: Snapshot) -> None:
        """Return at once and write in the background. Nothing changes the snapshot's tensors after this call."""
        ...
