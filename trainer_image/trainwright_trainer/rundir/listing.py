"""List the checkpoints of a run by their names. It does not import torch, because commands list before they load it."""

from __future__ import annotations

from trainwright_trainer.rundir.layout import CHECKPOINTS, CheckpointName
from trainwright_trainer.storage.base import Storage


def names(storage: Storage) -> list[CheckpointName]:
    """All checkpoints that have a folder, incomplete ones included, from old to new."""
    found = (CheckpointName.parse(entry[:-1]) for entry in storage.list(CHECKPOINTS) if entry.endswith("/"))
    return sorted(name for name in found if name is not None)


def complete(storage: Storage) -> list[CheckpointName]:
    """The checkpoints that have a manifest, from old to new. Only `checkpoint.read` detects damage."""
    return [name for name in names(storage) if storage.exists(name.manifest)]
