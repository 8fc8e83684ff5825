"""May a job have this place: is it free, or does it hold the run to go on with? Needs no torch: asked first."""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum
from typing import Any

from trainwright_api.problems import Mistakes, Problem
from trainwright_trainer.errors import AlreadyDone
from trainwright_trainer.rundir import compatibility, layout
from trainwright_trainer.rundir.record import Run, read_run
from trainwright_trainer.storage.base import Storage


class ExistingRun(Enum):
    """What to do with a run that is there already. CONTINUE, for pods: go on with it, or begin where there is none."""

    NEW = "new"
    RESUME = "resume"
    OVERWRITE = "overwrite"
    CONTINUE = "continue"


def look(storage: Storage, job: Mapping[str, Any], how: ExistingRun) -> Run | None:
    """The run that is there, if `job` may go on with it or replace it; reads little and writes nothing.

    For the very start of a command, before the data are read. `job` is the resolved job as plain JSON. Raises Mistakes
    (the place is taken, or the job is another one), AlreadyDone, EnvironmentFailure (it cannot be written).
    """
    entries = storage.list()  # before the run is read: who begins one here writes its start before anything else
    run = read_run(storage)
    if run is None:
        _refuse_foreign(storage.location, entries, how)
    elif how is ExistingRun.NEW:
        raise Mistakes.one("", _TAKEN.format(storage.location, run))
    elif how is not ExistingRun.OVERWRITE:
        _refuse_another_job(run, compatibility.essence(job))
    storage.check_writable()
    return run


_TAKEN = "{} holds another run ({}). Use --resume to go on with it, --overwrite to start anew, or another --output."


def _refuse_foreign(location: str, entries: list[str], how: ExistingRun) -> None:
    """A folder without a run must be empty, or a file of ours could replace one of the user's."""
    if how is ExistingRun.RESUME:
        raise Mistakes.one("", f"{location} holds no run to go on with. Leave --resume out to begin one.")
    others = [entry for entry in entries if entry not in ("lost+found/", layout.ATTEMPTS, *layout.BESIDE)]
    if others:
        shown = ", ".join(others[:3]) + (", …" if len(others) > 3 else "")
        raise Mistakes.one("", f"{location} holds other things ({shown}) and no run. Give another --output.")


def _refuse_another_job(run: Run, essence: Mapping[str, Any]) -> None:
    if run.start is None:
        return
    refuse(compatibility.differences(run.start.job, essence))
    if run.done and not compatibility.raised(run.start.job, essence):
        ended = f"{run.storage.location}: {run.name} is done"
        raise AlreadyDone(f"{ended}. To train it further, raise trainer.epochs; to start anew, use --overwrite.")


def refuse(problems: list[Problem]) -> None:
    if problems:
        raise Mistakes(problems)
