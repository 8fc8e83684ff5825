"""A checkpoint's content in memory: tensors copied at an optimizer-step boundary, and state as plain JSON."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import torch


@dataclass(frozen=True, order=True)
class Position:
    """The progress of training: optimizer steps since the start, the epoch, and the rows of the epoch that are done."""

    step: int
    epoch: int
    rows: int

    @property
    def name(self) -> str:
        """The first part of the name of a checkpoint's folder; names sort in the order of their positions."""
        return f"{self.step:010d}"


@dataclass(frozen=True)
class Snapshot:
    """The whole state of training at `position`.

    `tensors`: CPU tensors by dotted name (`model.…`, `optimizer.…`, `rng.…`, `metrics.…`, `best.…`).
    `state`: plain JSON (scheduler, early stopping, metrics history). `score`: the value of `scoreAttribute`, if known.
    """

    position: Position
    tensors: Mapping[str, torch.Tensor]
    state: Mapping[str, Any]
    score: float | None = None
