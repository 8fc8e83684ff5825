"""Choose the checkpoints that an attempt deletes, and the snapshots that wait to be written, as pure functions.

Two groups stay on the storage: of the attempt's own checkpoints and the pinned one, the newest two; and the best
`numToKeep` of these and of those below the horizon. Beside them stay the checkpoints whose best weights they use.
Waiting snapshots bound the memory on a slow disk.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from trainwright_api.resource.job import CheckpointPolicy
from trainwright_trainer.rundir.layout import CheckpointName
from trainwright_trainer.rundir.manifest import score_of
from trainwright_trainer.rundir.snapshot import Snapshot

ALWAYS_KEPT = 2


@dataclass(frozen=True)
class Fence:
    """Attempt `attempt` may delete its own checkpoints and those of attempts below `horizon`, but not `pinned`."""

    attempt: int
    horizon: int = 0
    pinned: CheckpointName | None = None

    def may_delete(self, name: CheckpointName) -> bool:
        return name != self.pinned and (name.attempt == self.attempt or name.attempt < self.horizon)


@dataclass(frozen=True)
class Kept:
    """A complete checkpoint, as retention sees it. `best_in`: the checkpoint that holds its best weights."""

    name: CheckpointName
    score: float | None = None
    best_in: CheckpointName | None = None


def to_delete(checkpoints: Sequence[Kept], fence: Fence, policy: CheckpointPolicy) -> list[CheckpointName]:
    """The complete checkpoints to delete, from old to new."""
    seen = [c for c in checkpoints if c.name == fence.pinned or fence.may_delete(c.name)]
    trusted = sorted(c.name for c in seen if c.name == fence.pinned or c.name.attempt == fence.attempt)
    newest = trusted[-ALWAYS_KEPT:]
    best = [c.name for c in sorted(seen, key=lambda c: rank(c, policy))[: policy.num_to_keep]]
    stay = {*newest, *best}
    gone = {c.name for c in seen if c.name not in stay and fence.may_delete(c.name)}
    return sorted(gone - {c.best_in for c in checkpoints if c.name not in gone})


def rank(checkpoint: Kept, policy: CheckpointPolicy) -> tuple[bool, float, int, int]:
    """Sort key; smaller is better. It orders by score, then newer first. Checkpoints without a score come last."""
    score = checkpoint.score
    good = 0.0 if score is None else score if policy.score_order == "min" else -score
    return (score is None, good, -checkpoint.name.step, -checkpoint.name.attempt)


SMALL_BYTES = 64 << 20


def still_waiting(waiting: Sequence[Snapshot], newest: Snapshot, policy: CheckpointPolicy) -> list[Snapshot]:
    """The snapshots that wait, in the order of their steps: the newest, and the best of those that have a score.

    The best are the `numToKeep` that retention would keep. If all together exceed `SMALL_BYTES`, only one best stays.
    """
    scored = [one for one in waiting if score_of(one) is not None]
    best = sorted(scored, key=lambda one: rank(_as_kept(one), policy))[: policy.num_to_keep]
    if sum(one.nbytes for one in [*best, newest]) > SMALL_BYTES:
        best = best[:1]
    return [*sorted(best, key=lambda one: one.position), newest]


def _as_kept(snapshot: Snapshot) -> Kept:
    return Kept(CheckpointName(snapshot.position.step, 0), score_of(snapshot))
