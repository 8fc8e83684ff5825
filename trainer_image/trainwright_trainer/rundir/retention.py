"""Choose the checkpoints that an attempt deletes, as a pure function of the existing ones.

Two groups stay: of the attempt's own checkpoints and the pinned one, the newest two; and the best `numToKeep` of these
and of those below the horizon.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from trainwright_api.resource.job import CheckpointPolicy
from trainwright_trainer.rundir.layout import CheckpointName

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
    """A complete checkpoint, as retention sees it."""

    name: CheckpointName
    score: float | None = None


def to_delete(checkpoints: Sequence[Kept], fence: Fence, policy: CheckpointPolicy) -> list[CheckpointName]:
    """The complete checkpoints to delete, from old to new."""
    seen = [c for c in checkpoints if c.name == fence.pinned or fence.may_delete(c.name)]
    trusted = sorted(c.name for c in seen if c.name == fence.pinned or c.name.attempt == fence.attempt)
    newest = trusted[-ALWAYS_KEPT:]
    best = [c.name for c in sorted(seen, key=lambda c: rank(c, policy))[: policy.num_to_keep]]
    stay = {*newest, *best}
    return sorted(c.name for c in seen if c.name not in stay and fence.may_delete(c.name))


def rank(checkpoint: Kept, policy: CheckpointPolicy) -> tuple[bool, float, int, int]:
    """Sort key; smaller is better. It orders by score, then newer first. Checkpoints without a score come last."""
    score = checkpoint.score
    good = 0.0 if score is None else score if policy.score_order == "min" else -score
    return (score is None, good, -checkpoint.name.step, -checkpoint.name.attempt)
