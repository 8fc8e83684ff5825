"""Start an attempt: check the location and the job, choose an intact checkpoint, then take the attempt's number.

The process that took the number passes a reference to the other processes.
"""

from __future__ import annotations

import platform
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from trainwright_api.problems import Mistakes
from trainwright_trainer.errors import UsedAttempt
from trainwright_trainer.rundir import checkpoint, compatibility, layout, listing
from trainwright_trainer.rundir.checkpoint import Checkpoint
from trainwright_trainer.rundir.layout import CheckpointName
from trainwright_trainer.rundir.preflight import ExistingRun, look, refuse
from trainwright_trainer.rundir.process_state import identity_now
from trainwright_trainer.rundir.record import Start
from trainwright_trainer.rundir.results import delete_results
from trainwright_trainer.rundir.retention import Fence
from trainwright_trainer.rundir.start_point import SourceCheckpoint, newest_whole
from trainwright_trainer.storage.base import Storage


@dataclass(frozen=True)
class Attempt:
    """An attempt that has taken its number. `first` is the number of the run's first attempt.

    `start_from` is the checkpoint to start from. `pinned` is its name if it lies in this run's folder, else None.
    """

    storage: Storage
    number: int
    first: int
    start_from: Checkpoint | None
    pinned: CheckpointName | None
    notices: tuple[str, ...] = field(default=())

    @property
    def fresh(self) -> bool:
        return self.number == self.first

    @property
    def fence(self) -> Fence:
        """The rule that says which checkpoints this attempt may delete."""
        below = self.number if self.fresh else self.pinned.attempt if self.pinned else 0
        return Fence(self.number, below, self.pinned)

    def wrote(self, start: Checkpoint) -> bool:
        """True if this attempt wrote the checkpoint, before its processes were started again."""
        return start.name.attempt == self.number and start.storage.location == self.storage.location

    def superseded(self) -> bool:
        """True if a newer attempt has started; from then on the shared files of the run belong to that attempt."""
        return bool(listing.started(self.storage, self.number))


def begin(
    storage: Storage,
    job: Mapping[str, Any],
    how: ExistingRun,
    *,
    name: str,
    content: str | None = None,
    number: int | None = None,
    source: SourceCheckpoint | None = None,
    about: Mapping[str, Any] | None = None,
) -> Attempt:
    """Verify the checkpoint to start from, take a number, and delete the run that is overwritten.

    `content` is the hash of the data. `number` is the number that the operator assigns; None takes the next free one.
    `source` is a checkpoint of another run to start from (`resumeFrom`); it is used if this run has none. `about`:
    further fields of start.json. Raises the exceptions of `look` and of `source`. If another process took the number
    first, raises Mistakes. A given `number` that is not larger than those of all attempts raises UsedAttempt.
    """
    # Chosen before `look`, so that an attempt that starts meanwhile takes this number, and `create` fails below.
    mine = number or listing.free_number(storage)
    run = look(storage, job, how)
    if number is not None and listing.started(storage, number - 1):
        raise _used(storage, number)
    essence = compatibility.essence(job)
    kept = None if how is ExistingRun.OVERWRITE else run
    if kept is not None and kept.start is not None:
        refuse(compatibility.data_differs(kept.start.job, essence, (kept.start.content, content)))
    start_from, notices = newest_whole(storage, lambda attempt: attempt >= kept.first) if kept else (None, ())
    pinned = start_from.name if start_from else None
    if start_from is None and source is not None:
        start_from, notices = source.usable(essence, content)
    elif start_from is None and kept:
        notices = (*notices, "there is no checkpoint to go on from: training begins at the first row")
    started_at = start_from.name if start_from else None
    place = source.run.location if start_from and source and not pinned else None
    digest = compatibility.digest(essence)
    start = Start(mine, not kept, started_at, place, name, digest, content, essence, _about(about or {}))
    if not storage.create(layout.start(mine), start.to_bytes()):
        if number is not None:
            raise _used(storage, number)
        raise Mistakes.one("", f"{storage.location}: another process has just begun attempt {mine} of this run")
    if how is ExistingRun.OVERWRITE:
        clear_before(storage, mine)
        if run is not None:
            delete_results(storage)
    first = kept.first if kept else mine
    return Attempt(storage, mine, first, start_from, pinned, notices)


def _used(storage: Storage, number: int) -> UsedAttempt:
    free = listing.free_number(storage)
    return UsedAttempt(f"{storage.location}: attempt {number} of this run has begun already; {free} is next", free)


def clear_before(storage: Storage, number: int) -> None:
    """Delete all files of the attempts before `number`. If a kill interrupts it, every reader ignores the remains."""
    for name in listing.names(storage):
        if name.attempt < number:
            checkpoint.delete(storage, name)
    for entry in layout.SHARED:
        (storage.delete_tree if entry.endswith("/") else storage.delete)(entry)
    for entry in storage.list(layout.ATTEMPTS):
        older = layout.attempt_number(entry.rstrip("/"))
        if older is not None and older < number:
            storage.delete_tree(layout.attempt_folder(older))


def _about(about: Mapping[str, Any]) -> dict[str, Any]:
    versions = {"python": platform.python_version(), **about.get("versions", {})}
    return {
        "launch": None,
        **about,
        "versions": versions,
        **identity_now(),
    }


@dataclass(frozen=True)
class AttemptReference:
    """`start` is the checkpoint to continue from, which lies in the run `source`, or in the attempt's own run for None.

    The other fields are those of `Attempt`.
    """

    number: int
    first: int
    pinned: CheckpointName | None
    start: CheckpointName | None
    source: str | None = None

    @classmethod
    def of(cls, attempt: Attempt) -> AttemptReference:
        start = attempt.start_from
        if start is None:
            return cls(attempt.number, attempt.first, attempt.pinned, None)
        source = None if attempt.pinned else start.storage.location
        return cls(attempt.number, attempt.first, attempt.pinned, start.name, source)

    def attempt(self, storage: Storage, opened: Callable[[str], Storage]) -> Attempt:
        """The attempt with its checkpoint, whose manifest is read. `opened` opens another run. Raises `Damaged`."""
        holder = storage if self.source is None else opened(self.source)
        start = None if self.start is None else Checkpoint(holder, self.start)
        return Attempt(storage, self.number, self.first, start, self.pinned)


def brought_up(storage: Storage, attempt_reference: AttemptReference) -> tuple[AttemptReference, tuple[str, ...]]:
    """The reference for processes that restart in the same attempt, and one notice for each damaged checkpoint.

    It starts from the attempt's own newest intact checkpoint. If there is none, the reference does not change.
    """
    found, notices = newest_whole(storage, lambda attempt: attempt == attempt_reference.number)
    return (replace(attempt_reference, start=found.name, source=None) if found else attempt_reference), notices
