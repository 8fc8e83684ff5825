"""Check that a job may use an output location: it is free, or holds a run that the job may continue or replace.

The check does not import torch, because a command runs it first.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum
from typing import Any

from trainwright_api.problems import Mistakes, Problem
from trainwright_trainer.errors import EARLY_STOPPING, AlreadyDone
from trainwright_trainer.rundir import compatibility, json_text, layout
from trainwright_trainer.rundir.record import Run, read_run
from trainwright_trainer.storage.base import Storage


class ExistingRun(Enum):
    """The action for an existing run. CONTINUE, for pods, resumes the run, or starts a new one if there is none."""

    NEW = "new"
    RESUME = "resume"
    OVERWRITE = "overwrite"
    CONTINUE = "continue"


def look(storage: Storage, job: Mapping[str, Any], how: ExistingRun) -> Run | None:
    """The existing run, if `job` may continue or replace it; None if there is none. Reads little, leaves no file.

    A command calls it first, before it reads the data. `job` is the resolved job as plain JSON. Raises Mistakes (the
    location is taken, or the job differs), AlreadyDone, and EnvironmentFailure (the location cannot be written).
    """
    entries = storage.list()  # before `read_run`: a process that starts a run here writes start.json before other files
    run = read_run(storage)
    if run is None:
        _refuse_foreign(storage, entries, how)
    elif how is ExistingRun.NEW:
        raise Mistakes.one("", _TAKEN.format(storage.location, run))
    else:
        if how is not ExistingRun.CONTINUE:
            _refuse_running(run)
        if how is not ExistingRun.OVERWRITE:
            refuse_another_format(run, "")
            _refuse_another_job(run, compatibility.essence(job))
    storage.check_writable()
    return run


_TAKEN = "{} holds another run ({}). Use --resume to go on with it, --overwrite to start anew, or another --output."


def _refuse_running(run: Run) -> None:
    """Two processes would train the same run, and the result of one of them would be lost."""
    if run.other_process is not None:
        found = f"{run.name} runs on this machine as process {run.other_process}"
        raise Mistakes.one("", f"{run.storage.location}: {found}. Stop it first, or give another --output.")


def refuse_another_format(run: Run, path: str) -> None:
    """Raise `Mistakes` at `path` if another version wrote the run in a format that this version does not read."""
    if run.start is not None and run.start.format != layout.FORMAT:
        found = f"{run.storage.location} holds a run of format {run.start.format}, this version reads {layout.FORMAT}"
        raise Mistakes.one(path, f"{found}. Use the version that wrote it, or train anew into another --output.")


def _refuse_foreign(storage: Storage, entries: list[str], how: ExistingRun) -> None:
    """A folder without a run must be empty, so that the run replaces no file of the user."""
    if how is ExistingRun.RESUME:
        raise Mistakes.one("", f"{storage.location} holds no run to go on with. Leave --resume out to begin one.")
    others = [entry for entry in entries if entry not in ("lost+found/", layout.ATTEMPTS, *layout.BESIDE)]
    if layout.LOGS in others and all(layout.is_attempt_logs(entry) for entry in storage.list(layout.LOGS)):
        others.remove(layout.LOGS)  # a pod keeps its log from the beginning, also of preprocessing
    if others:
        shown = ", ".join(others[:3]) + (", …" if len(others) > 3 else "")
        raise Mistakes.one("", f"{storage.location} holds other things ({shown}) and no run. Give another --output.")


def _refuse_another_job(run: Run, essence: Mapping[str, Any]) -> None:
    if run.start is None:
        return
    refuse(compatibility.differences(run.start.job, essence))
    if not run.done:
        return
    limit = _limit(run.storage, essence)
    if not compatibility.raises(limit, run.start.job, essence):
        ended = f"{run.storage.location}: {run.name} is done"
        anew = "To start anew, use --overwrite."
        if essence.get("config") is not None:
            further = f"To train it further, raise {limit.removeprefix('config.')}"
            anew = f"{further}; to start anew, use --overwrite."
        raise AlreadyDone(f"{ended}. {anew}")


def _limit(storage: Storage, essence: Mapping[str, Any]) -> str:
    """The path of the limit that has ended the run in `storage`."""
    try:
        end = json_text.parse(storage.read(layout.METRICS)).get("end") or {}
    except FileNotFoundError:
        end = {}
    is_early = end.get("reason") == EARLY_STOPPING
    return compatibility.EARLY_STOP if is_early else compatibility.limit_of(essence)


def refuse(problems: list[Problem]) -> None:
    if problems:
        raise Mistakes(problems)
