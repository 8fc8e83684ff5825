"""Beginning an attempt: is the place free, is it the same job, which checkpoint is whole; then the number is taken."""

from __future__ import annotations

import os
import platform
import socket
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from trainwright_api.problems import Mistakes
from trainwright_trainer.errors import EnvironmentFailure
from trainwright_trainer.rundir import checkpoint, compatibility, layout, listing, numbers
from trainwright_trainer.rundir.checkpoint import Checkpoint
from trainwright_trainer.rundir.layout import CheckpointName
from trainwright_trainer.rundir.manifest import Damaged
from trainwright_trainer.rundir.preflight import ExistingRun, look, refuse
from trainwright_trainer.rundir.record import Start, read_run
from trainwright_trainer.rundir.retention import Fence
from trainwright_trainer.storage.base import Storage


@dataclass(frozen=True)
class Attempt:
    """One attempt that has taken its number. `first` is the first of its run; `pinned` lies in this run's folder."""

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
        """What this attempt may delete."""
        below = self.number if self.fresh else self.pinned.attempt if self.pinned else 0
        return Fence(self.number, below, self.pinned)

    def superseded(self) -> bool:
        """Whether a newer attempt has begun; the files that all attempts share are its own from then on."""
        return bool(numbers.attempt_reference(self.storage, self.number))


def begin(
    storage: Storage,
    job: Mapping[str, Any],
    how: ExistingRun,
    *,
    name: str,
    content: str | None = None,
    number: int | None = None,
    source: Storage | None = None,
    versions: Mapping[str, str] | None = None,
) -> Attempt:
    """Verify the checkpoint to start from, take a number, and clear away what was overwritten.

    `content`: the data's hash. `number`: as the operator says, else the next. `source`: another run to start from
    (`resumeFrom`) where this one has nothing yet. Raises what `look` raises, and where another process took the number
    first: Mistakes, or EnvironmentFailure for a given `number`.
    """
    mine = number or numbers.free(storage)  # before the look: what begins after it has taken this one
    run = look(storage, job, how)
    essence = compatibility.essence(job)
    kept = None if how is ExistingRun.OVERWRITE else run
    if kept is not None and kept.start is not None:
        refuse(compatibility.data_differs(kept.start.job, essence, (kept.start.content, content)))
    start_from, notices = newest_usable(kept.storage, kept.first) if kept else _from_source(source)
    pinned = start_from.name if start_from else None
    place = None if kept or source is None else source.location
    about = _about(versions or {})
    start = Start(mine, not kept, pinned, place, name, compatibility.digest(essence), content, essence, about)
    if not storage.create(layout.start(mine), start.to_bytes()):
        taken = f"{storage.location}: another process has just begun attempt {mine} of this run"
        # Where the operator numbers attempts, it is no user's doing, and the next number is free.
        raise Mistakes.one("", taken) if number is None else EnvironmentFailure(taken)
    if how is ExistingRun.OVERWRITE:
        clear_before(storage, mine)
    first = kept.first if kept else mine
    return Attempt(storage, mine, first, start_from, pinned if kept else None, notices)


def newest_usable(storage: Storage, first: int = 1) -> tuple[Checkpoint | None, tuple[str, ...]]:
    """The newest whole checkpoint of attempts from `first` on, and one notice for each that was passed over."""
    found, notices = newest_whole(storage, lambda attempt: attempt >= first)
    none = () if found else ("there is no checkpoint to go on from: training begins at the first row",)
    return found, (*notices, *none)


def newest_whole(storage: Storage, is_meant: Callable[[int], bool]) -> tuple[Checkpoint | None, tuple[str, ...]]:
    """The same among the attempts that are meant."""
    notices: list[str] = []
    for name in reversed(listing.complete(storage)):
        if not is_meant(name.attempt):
            continue
        try:
            return Checkpoint(name, checkpoint.read(storage, name)), tuple(notices)
        except Damaged as damage:
            notices.append(f"checkpoint {name} is damaged and passed over: {damage}")
    return None, tuple(notices)


def clear_before(storage: Storage, number: int) -> None:
    """Delete all that attempts before `number` left. What a kill leaves of it, every reader passes over."""
    for name in listing.names(storage):
        if name.attempt < number:
            checkpoint.delete(storage, name)
    for entry in layout.SHARED:
        (storage.delete_tree if entry.endswith("/") else storage.delete)(entry)
    for entry in storage.list(layout.ATTEMPTS):
        older = layout.attempt_number(entry.rstrip("/"))
        if older is not None and older < number:
            storage.delete_tree(layout.attempt_folder(older))


def _from_source(source: Storage | None) -> tuple[Checkpoint | None, tuple[str, ...]]:
    if source is None:
        return None, ()
    found, notices = newest_usable(source, run.first if (run := read_run(source)) else 1)
    if found is None:
        raise Mistakes.one("resumeFrom", f"{source.location} holds no usable checkpoint")
    return found, notices


def _about(versions: Mapping[str, str]) -> dict[str, Any]:
    time = datetime.now(UTC).isoformat(timespec="seconds").replace("+00:00", "Z")
    versions = {"python": platform.python_version(), **versions}
    return {"versions": versions, "host": socket.gethostname(), "pid": os.getpid(), "time": time}
