"""Checkpoints that other trials begin with are kept, whatever their own run deletes."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch
from tests.checkpoints import write

from trainwright_trainer.rundir import checkpoint, layout
from trainwright_trainer.rundir.blocks import whole
from trainwright_trainer.rundir.checkpoint import Checkpoint
from trainwright_trainer.rundir.layout import CheckpointName
from trainwright_trainer.rundir.manifest import BestWeights
from trainwright_trainer.rundir.snapshot import Position, Snapshot
from trainwright_trainer.rundir.write import write_manifest, write_shards
from trainwright_trainer.search.parents import kept
from trainwright_trainer.storage.local import FolderStorage


def snapshot(step: int) -> Snapshot:
    return Snapshot(Position(step, 0, step), whole({"model.w": torch.full((3,), float(step))}), {})


@pytest.fixture
def run(tmp_path: Path) -> FolderStorage:
    """A run with checkpoints of the steps 10, 20 and 30."""
    storage = FolderStorage(tmp_path / "run")
    storage.write(layout.start(1), [b"{}"])
    for step in (10, 20, 30):
        write(storage, snapshot(step))
    return storage


@pytest.fixture
def copies(tmp_path: Path) -> FolderStorage:
    return FolderStorage(tmp_path / "copies")


def value(copies: FolderStorage, step: int) -> float:
    return float(Checkpoint(copies, CheckpointName(step, 1)).read(["model.w"])["model.w"][0])


@pytest.mark.parametrize(("step", "expected"), [(10, 10), (11, 20), (30, 30)])
def test_the_oldest_checkpoint_from_a_step_on_is_kept(run: Any, copies: Any, step: int, expected: int) -> None:
    assert kept(run, copies, step) == CheckpointName(expected, 1)
    checkpoint.delete(run, CheckpointName(expected, 1))
    assert value(copies, expected) == expected
    assert copies.exists(layout.start(1))


def test_there_is_none_before_it_is_written(run: Any, copies: Any) -> None:
    assert kept(run, copies, 31) is None
    assert copies.list() == []


def test_a_copy_is_used_again(run: Any, copies: Any) -> None:
    kept(run, copies, 20)
    copies.delete(layout.start(1))
    assert kept(run, copies, 20) == CheckpointName(20, 1)
    assert not copies.exists(layout.start(1))


def test_a_damaged_one_is_passed_over(run: Any, copies: Any) -> None:
    folder = run.path(CheckpointName(10, 1).folder)
    next(folder.glob("*.safetensors")).write_bytes(b"x")
    assert kept(run, copies, 10) == CheckpointName(20, 1)
    assert not copies.exists(CheckpointName(10, 1).manifest)


def test_the_checkpoint_with_its_best_weights_is_copied_too(run: Any, copies: Any) -> None:
    name, content = CheckpointName(40, 1), replace(snapshot(40), best_step=10)
    written = write_shards(run, name, content.tensors)
    write_manifest(run, name, content, [written], BestWeights(10, CheckpointName(10, 1)))
    assert kept(run, copies, 40) == CheckpointName(40, 1)
    assert value(copies, 10) == 10
