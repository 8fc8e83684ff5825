"""The checkpoints that trials of a population begin with, copied from the runs of other trials.

A run deletes its older checkpoints while it trains. A copy stays as long as the search, and no other run has to know
which checkpoints are in use. A folder of copies is a run folder with checkpoints alone, so `resumeFrom` reads it.
"""

from __future__ import annotations

from trainwright_trainer.rundir import layout, listing
from trainwright_trainer.rundir.checkpoint import Checkpoint, read_manifest
from trainwright_trainer.rundir.layout import CheckpointName
from trainwright_trainer.rundir.manifest import Damaged
from trainwright_trainer.search.folder import copy_object
from trainwright_trainer.storage.base import Storage


def kept(run: Storage, copies: Storage, step: int) -> CheckpointName | None:
    """Copy the oldest whole checkpoint of a run at `step` or after it to `copies`. None if there is none yet.

    The run may train meanwhile, and delete a checkpoint that is being copied. Then the next one is copied.
    """
    for name in (one for one in listing.complete(run) if one.step >= step):
        if copies.exists(name.manifest):
            return name
        try:
            _copy(run, copies, name)
        except (FileNotFoundError, Damaged):
            continue
        return name
    return None


def _copy(run: Storage, copies: Storage, name: CheckpointName) -> None:
    """Copy a checkpoint, and the one with its best weights. Raises FileNotFoundError, and Damaged."""
    best = read_manifest(run, name).best
    holder = best.checkpoint if best is not None else None
    for number in listing.started(run):
        copy_object(run, layout.start(number), copies)
    for one in (*([holder] if holder not in (None, name) else []), name):
        assert one is not None
        files = [f"{one.folder}{file}" for file in run.list(one.folder)]
        for file in (*(file for file in files if file != one.manifest), one.manifest):  # it completes the checkpoint
            copy_object(run, file, copies)
    try:
        Checkpoint(copies, name).verify()
    except Damaged:
        copies.delete(name.manifest)
        raise
