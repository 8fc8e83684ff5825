"""Write snapshots as checkpoints without a background writer, and read whole checkpoints."""

from __future__ import annotations

import weakref
from collections.abc import Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import torch

from trainwright_trainer.rundir.blocks import prefixed, whole
from trainwright_trainer.rundir.checkpoint import Checkpoint
from trainwright_trainer.rundir.layout import CheckpointName
from trainwright_trainer.rundir.manifest import BestWeights
from trainwright_trainer.rundir.shards import SHARD_BYTES
from trainwright_trainer.rundir.snapshot import Position, Snapshot
from trainwright_trainer.rundir.write import write_manifest, write_shards
from trainwright_trainer.storage.base import Storage
from trainwright_trainer.storage.local import FolderStorage

POSITION = Position(12, 1, 340)


def snapshot_of(tensors: Mapping[str, torch.Tensor], position: Position = POSITION, **state: Any) -> Snapshot:
    """The snapshot of a process that trains alone."""
    return Snapshot(position, whole(tensors), state)


def write(storage: Storage, *ranks: Snapshot, attempt: int = 1, limit: int = SHARD_BYTES) -> CheckpointName:
    """Write the snapshots of all ranks as one checkpoint, which holds its best weights itself."""
    first = ranks[0]
    name = CheckpointName(first.position.step, attempt)
    written = [
        write_shards(storage, name, {**one.tensors, **prefixed("best", one.best)}, rank, limit=limit)
        for rank, one in enumerate(ranks)
    ]
    best = None if first.best_step is None else BestWeights(first.best_step, None)
    write_manifest(storage, name, first, written, best)
    return name


def reopened(*ranks: Snapshot) -> Checkpoint:
    """The checkpoint of the snapshots of all ranks, in a folder that is deleted with it."""
    folder = TemporaryDirectory()
    storage = FolderStorage(Path(folder.name))
    checkpoint = Checkpoint(storage, write(storage, *ranks))
    weakref.finalize(checkpoint, folder.cleanup)
    return checkpoint


def tensors_of(storage: Storage, name: CheckpointName) -> dict[str, torch.Tensor]:
    """All tensors of a checkpoint, which is verified first."""
    checkpoint = Checkpoint(storage, name)
    checkpoint.verify()
    return checkpoint.read(checkpoint.specs)
