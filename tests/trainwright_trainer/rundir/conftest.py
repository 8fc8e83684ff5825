"""Runs and snapshots for the tests of the run folder."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
import torch

from trainwright_trainer.rundir.blocks import whole
from trainwright_trainer.rundir.snapshot import Position, Snapshot
from trainwright_trainer.storage.local import FolderStorage

MakeSnapshot = Callable[..., Snapshot]


@pytest.fixture
def storage(tmp_path: Path) -> FolderStorage:
    return FolderStorage(tmp_path / "out")


@pytest.fixture
def snapshot() -> MakeSnapshot:
    """A small snapshot at a step; its weights are a function of the step."""

    def make(step: int, score: float | None = None) -> Snapshot:
        weights = torch.arange(6, dtype=torch.float32).reshape(2, 3) + step
        return Snapshot(Position(step, 0, step * 10), whole({"model.w": weights}), {"seconds": 1.5}, score)

    return make
