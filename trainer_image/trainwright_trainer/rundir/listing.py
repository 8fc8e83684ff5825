"""Which checkpoints lie in a run, by their names alone. Needs no torch: a command looks before that is imported."""

from __future__ import annotations

from trainwright_trainer.rundir.layout import CHECKPOINTS, CheckpointName
from trainwright_trainer.storage.base import Storage


def names(storage: Storage) -> list[CheckpointName]:
    """All that have a folder, torn writes included, from old to new."""
    found = (CheckpointName.parse(entry[:-1]) for entry in storage.list(CHECKPOINTS) if entry.endswith("/"))
    return sorted(name for name in found if name is not None)


def complete(storage: Storage) -> list[CheckpointName]:
    """Those whose manifest is there, from old to new; whether they are undamaged only `read` knows."""
    return [name for name in names(storage) if storage.exists(name.manifest)]
