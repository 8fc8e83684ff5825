"""Reference to a started attempt. The process that took the number passes it to the other processes."""

from __future__ import annotations

from dataclasses import dataclass, replace

from trainwright_trainer.rundir import checkpoint
from trainwright_trainer.rundir.attempt import Attempt, newest_whole
from trainwright_trainer.rundir.checkpoint import Checkpoint
from trainwright_trainer.rundir.layout import CheckpointName
from trainwright_trainer.storage.base import Storage


@dataclass(frozen=True)
class AttemptReference:
    """`start` is the checkpoint to continue from; the other fields are those of `Attempt`."""

    number: int
    first: int
    pinned: CheckpointName | None
    start: CheckpointName | None

    @classmethod
    def of(cls, attempt: Attempt) -> AttemptReference:
        start = attempt.start_from
        return cls(attempt.number, attempt.first, attempt.pinned, start.name if start else None)

    def attempt(self, storage: Storage) -> Attempt:
        """The attempt with its checkpoint, which is read and verified. Raises `Damaged`."""
        start = None if self.start is None else Checkpoint(self.start, checkpoint.read(storage, self.start))
        return Attempt(storage, self.number, self.first, start, self.pinned)


def brought_up(storage: Storage, attempt_reference: AttemptReference) -> tuple[AttemptReference, tuple[str, ...]]:
    """The reference for processes that restart in the same attempt, and one notice for each damaged checkpoint.

    It starts from the attempt's own newest intact checkpoint. If there is none, the reference does not change.
    """
    found, notices = newest_whole(storage, lambda attempt: attempt == attempt_reference.number)
    return (replace(attempt_reference, start=found.name) if found else attempt_reference), notices
