"""List the checkpoints and the attempts of a run by their names.

It does not import torch, because commands list before they load it. A started attempt has a start.json. In a pod, an
attempt that ended before it started has an outcome.json only.
"""

from __future__ import annotations

from trainwright_trainer.rundir import layout
from trainwright_trainer.rundir.layout import CHECKPOINTS, CheckpointName
from trainwright_trainer.storage.base import Storage


def names(storage: Storage) -> list[CheckpointName]:
    """All checkpoints that have a folder, incomplete ones included, from old to new."""
    found = (CheckpointName.parse(entry[:-1]) for entry in storage.list(CHECKPOINTS) if entry.endswith("/"))
    return sorted(name for name in found if name is not None)


def complete(storage: Storage) -> list[CheckpointName]:
    """The checkpoints that have a manifest, from old to new. Only `checkpoint.read` detects damage."""
    return [name for name in names(storage) if storage.exists(name.manifest)]


def started(storage: Storage, after: int = 0) -> list[int]:
    """The numbers above `after` of the attempts that have started, in ascending order."""
    return [number for number in _listed(storage, after) if storage.exists(layout.start(number))]


def free_number(storage: Storage) -> int:
    """The next number: no attempt with this number or a larger one has a start.json or an outcome.json."""
    files = (layout.start, layout.outcome)
    used = (n for n in reversed(_listed(storage, 0)) if any(storage.exists(file(n)) for file in files))
    return next(used, 0) + 1


def _listed(storage: Storage, after: int) -> list[int]:
    found = (layout.attempt_number(entry.rstrip("/")) for entry in storage.list(layout.ATTEMPTS))
    return sorted(number for number in found if number is not None and number > after)
