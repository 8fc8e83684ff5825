"""Choose the snapshots that wait while a checkpoint is written: a pure function that bounds memory on a slow disk."""

from __future__ import annotations

from collections.abc import Sequence

from trainwright_api.resource.job import CheckpointPolicy
from trainwright_trainer.rundir.layout import CheckpointName
from trainwright_trainer.rundir.manifest import score_of
from trainwright_trainer.rundir.retention import Kept, rank
from trainwright_trainer.rundir.snapshot import Snapshot

SMALL_BYTES = 64 << 20


def still_waiting(waiting: Sequence[Snapshot], newest: Snapshot, policy: CheckpointPolicy) -> list[Snapshot]:
    """The snapshots that wait, in the order of their steps: the newest, and the best of those that have a score.

    The best are the `numToKeep` that retention would keep. If all together exceed `SMALL_BYTES`, only one best stays.
    """
    scored = [one for one in waiting if score_of(one) is not None]
    best = sorted(scored, key=lambda one: rank(_as_kept(one), policy))[: policy.num_to_keep]
    if sum(map(_size, [*best, newest])) > SMALL_BYTES:
        best = best[:1]
    return [*sorted(best, key=lambda one: one.position), newest]


def _as_kept(snapshot: Snapshot) -> Kept:
    return Kept(CheckpointName(snapshot.position.step, 0), score_of(snapshot))


def _size(snapshot: Snapshot) -> int:
    return sum(tensor.nbytes for tensor in snapshot.tensors.values())
