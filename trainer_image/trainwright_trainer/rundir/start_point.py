"""Choose the checkpoint that an attempt starts from: one of its own run, or one of another run (`resumeFrom`)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from trainwright_api.config.continued import may_differ
from trainwright_api.problems import Mistakes, Problem
from trainwright_trainer.rundir import compatibility, layout, listing
from trainwright_trainer.rundir.checkpoint import Checkpoint
from trainwright_trainer.rundir.layout import CheckpointName
from trainwright_trainer.rundir.manifest import Damaged
from trainwright_trainer.rundir.preflight import refuse, refuse_another_format
from trainwright_trainer.rundir.record import read_run
from trainwright_trainer.storage.base import Storage

_PATH = "resumeFrom"


@dataclass(frozen=True)
class SourceCheckpoint:
    """A checkpoint of another run. `name`: None for its newest intact one."""

    run: Storage
    name: CheckpointName | None = None

    def usable(self, essence: Mapping[str, Any], content: str | None) -> tuple[Checkpoint, tuple[str, ...]]:
        """The checkpoint, verified, and the notices.

        Training goes on in the middle of an epoch, with the state of the optimizer and the scores so far. So the job
        must be one that may resume the other run itself, but for the fields that fit each state
        (`config/continued.py`). Raises Mistakes.
        """
        run = read_run(self.run)
        if run is None:
            raise Mistakes.one(_PATH, f"{self.run.location} holds no run")
        refuse_another_format(run, _PATH)
        if run.start is not None:
            refuse(_differences(run.start.job, essence, run.start.content, content))
        if self.name is None:
            found, notices = newest_whole(self.run, lambda attempt: attempt >= run.first)
            if found is None:
                raise Mistakes.one(_PATH, f"{self.run.location} holds no usable checkpoint")
            return found, notices
        try:
            found = Checkpoint(self.run, self.name)
            found.verify()
        except Damaged as damage:
            place = f"{self.run.location}/{self.name.folder}"
            raise Mistakes.one(_PATH, f"{place} is no whole checkpoint: {damage}") from damage
        return found, ()


def _differences(
    old: Mapping[str, Any], new: Mapping[str, Any], content_before: str | None, content: str | None
) -> list[Problem]:
    # The other run may itself have begun with a checkpoint. Its own has all of that.
    before, own = ({key: value for key, value in job.items() if key != _PATH} for job in (old, new))
    data = compatibility.data_differs(before, own, (content_before, content))
    kind = _optimizer(own)
    found = [one for one in (*compatibility.differences(before, own), *data) if not may_differ(one.path, kind)]
    hint = "To begin with its weights only, name its model"
    return [Problem(_PATH, f"a checkpoint is for the same job, but {problem}. {hint}") for problem in found]


def _optimizer(job: Mapping[str, Any]) -> str:
    trainer = (job.get("config") or {}).get("trainer") or {}
    return str((trainer.get("optimizer") or {}).get("type"))


def newest_whole(storage: Storage, is_meant: Callable[[int], bool]) -> tuple[Checkpoint | None, tuple[str, ...]]:
    """The newest intact checkpoint of the attempts for which `is_meant` returns True, and the notices."""
    notices: list[str] = []
    for name in reversed(listing.complete(storage)):
        if not is_meant(name.attempt):
            continue
        try:
            found = Checkpoint(storage, name)
            found.verify()
            return found, tuple(notices)
        except Damaged as damage:
            notices.append(f"checkpoint {name} is damaged and passed over: {damage}")
    return None, tuple(notices)


def run_and_checkpoint(location: str) -> tuple[str, CheckpointName | None] | None:
    """The run and the checkpoint of `<run>/checkpoints` or `<run>/checkpoints/<name>`; None for another location.

    Raises Mistakes for a name that no checkpoint has.
    """
    head, _, last = location.rstrip("/").rpartition("/")
    folder = layout.CHECKPOINTS.rstrip("/")
    if last == folder:
        return head or ".", None
    run, _, above = head.rpartition("/")
    if above != folder:
        return None
    name = CheckpointName.parse(last)
    if name is None:
        raise Mistakes.one(_PATH, f"{last!r} is no name of a checkpoint, such as 0000001200-1")
    return run or ".", name
