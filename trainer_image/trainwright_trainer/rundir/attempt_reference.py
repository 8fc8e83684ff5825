"""An attempt that has begun, as processes beside the one that took its number are told of it."""

from __future__ import annotations

from dataclasses import dataclass, replace

from trainwright_trainer.rundir import checkpoint
from trainwright_trainer.rundir.attempt import Attempt, newest_whole
from trainwright_trainer.rundir.checkpoint import Checkpoint
from trainwright_trainer.rundir.layout import CheckpointName
from trainwright_trainer.storage.base import Storage


@dataclass(frozen=True)
class AttemptReference:
    """`start` is the checkpoint to go on from; the other fields are those of `Attempt`."""

    number: int
    first: int
    pinned: CheckpointName | None
    start: CheckpointName | None

    @classmethod
    def of(cls, attempt: Attempt) -> AttemptReference:
        start = attempt.start_from
        return cls(attempt.number, attempt.first, attempt.pinned, start.name if start else None)

    def attempt(self, storage: Storage) -> Attempt:
        """With its checkpoint, read and verified. Raises `Damaged`."""
        start = None if self.start is None else Checkpoint(self.start, checkpoint.read(storage, self.start))
        return Attempt(storage, self.number, self.first, start, self.pinned)


def brought_up(storage: Storage, attempt_reference: AttemptReference) -> tuple[AttemptReference, tuple[str, ...]]:
    """For processes that begin again in the same attempt: from its own newest whole checkpoint, where there is one.

    And one notice for each that is damaged.
    """
    found, notices = newest_whole(storage, lambda attempt: attempt == attempt_reference.number)
    return (replace(attempt_reference, start=found.name) if found else attempt_reference), notices
