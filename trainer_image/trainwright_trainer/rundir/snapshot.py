"""What a checkpoint holds, in memory: tensors copied at an optimizer-step boundary, and plain JSON beside them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import torch


@dataclass(frozen=True, order=True)
class Position:
    """How far training has come: optimizer steps in all, and rows of the epoch that are done."""

    step: int
    epoch: int
    rows: int

    @property
    def name(self) -> str:
        """The first part of a checkpoint's folder; it sorts as the positions do."""
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
