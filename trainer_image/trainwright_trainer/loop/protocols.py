"""Protocols of the model, the metrics and the checkpoints. The loop uses nothing else of them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Literal, Protocol

import torch
from torch import nn

from trainwright_trainer.callbacks.events import Scores
from trainwright_trainer.loader.batch import Batch
from trainwright_trainer.rundir.snapshot import Snapshot

Tensors = Mapping[str, torch.Tensor]


class Trainable(Protocol):
    """A model (an `nn.Module`) whose outputs have names."""

    def __call__(self, batch: Batch) -> Tensors:
        """Logits by output feature."""
        ...

    def losses(self, logits: Tensors, batch: Batch) -> Tensors:
        """The loss of each row, by output feature: [rows] each."""
        ...

    def total(self, means: Tensors) -> torch.Tensor:
        """The weighted sum of the outputs' mean losses: a scalar."""
        ...

    def regularization(self, kind: Literal["l1", "l2", "l1_l2"], factor: float) -> torch.Tensor:
        """The penalty on the weights: a scalar."""
        ...

    def train(self, mode: bool = True) -> Any: ...

    def eval(self) -> Any: ...

    def named_parameters(self) -> Iterator[tuple[str, nn.Parameter]]: ...

    def state_dict(self) -> dict[str, Any]: ...

    def load_state_dict(self, state_dict: Mapping[str, Any]) -> Any: ...


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


class Checkpoints(Protocol):
    """The destination of snapshots."""

    def save(self, snapshot: Snapshot) -> None:
        """Return at once and write in the background. Nothing changes the snapshot's tensors after this call."""
        ...
