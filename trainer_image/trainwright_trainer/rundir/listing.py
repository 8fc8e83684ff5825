"""List the checkpoints and the attempts of a run by their names.

It does not import torch, because commands list before they load it. A started attempt has a start.json. In a pod, an
attempt that ended before it started has an outcome.json only.
"""

from __future__ import annotations

from collections.abc import Callable

from trainwright_trainer.rundir import layout
from trainwright_trainer.rundir.layout import CHECKPOINTS, CheckpointName
from trainwright_trainer.storage.base import Storage


def names(storage: Storage) -> list[CheckpointName]:
    """All checkpoints that have a folder, incomplete ones included, from old to new."""
    found = (CheckpointName.parse(entry[:-1]) for entry in storage.list(CHECKPOINTS) if entry.endswith("/"))
    return sorted(name for name in found if name is not None)


def complete(storage: Storage) -> list[CheckpointName]:
    """The checkpoints that have a manifest, from old to new. Only `Checkpoint.verify` detects damage."""
    return complete_and_torn(storage)[0]


def complete_and_torn(storage: Storage) -> tuple[list[CheckpointName], list[CheckpointName]]:
    """The checkpoints with and without a manifest, each from old to new. Their number does not change the requests."""
    found = names(storage)
    files = set(storage.list_tree(CHECKPOINTS))
    complete = [name for name in found if name.manifest in files]
    return complete, [name for name in found if name.manifest not in files]


def started(storage: Storage, after: int = 0) -> list[int]:
    """The numbers above `after` of the attempts that have started, in ascending order."""
    return [number for number in _with_files(storage, layout.start) if number > after]


def free_number(storage: Storage) -> int:
    """The next number: no attempt with this number or a larger one has a start.json or an outcome.json."""
    return max(_with_files(storage, layout.start, layout.outcome), default=0) + 1


def _with_files(storage: Storage, *files: Callable[[int], str]) -> list[int]:
    """The numbers of the attempts that have one of `files`, in ascending order."""
    there = set(storage.list_tree(layout.ATTEMPTS))
    entries = {name.removeprefix(layout.ATTEMPTS).partition("/")[0] for name in there}
    numbers = sorted(number for entry in entries if (number := layout.attempt_number(entry)) is not None)
    return [number for number in numbers if any(file(number) in there for file in files)]
