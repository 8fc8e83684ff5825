"""The action for a run that exists at the output location already."""

from __future__ import annotations

from trainwright_api.problems import Mistakes
from trainwright_trainer.backends.launchers import Launch
from trainwright_trainer.job.job import Job
from trainwright_trainer.rundir import layout
from trainwright_trainer.rundir.preflight import ExistingRun
from trainwright_trainer.rundir.record import read_run
from trainwright_trainer.storage.base import Storage
from trainwright_trainer.storage.location import located, place_of


def existing_run(job: Job) -> ExistingRun:
    """The action that the options ask for. A pod continues. Raises `Mistakes` for options that contradict each other,
    and for a `resumeFrom` that would be deleted."""
    if job.attempt is not None:
        return ExistingRun.CONTINUE
    if not job.options.overwrite:
        return ExistingRun.RESUME if job.options.resume else ExistingRun.NEW
    if job.options.resume:
        raise Mistakes.one("resume", "goes on with a run, overwrite starts anew: give one of them")
    _refuse_own_source(job)
    return ExistingRun.OVERWRITE


def _refuse_own_source(job: Job) -> None:
    """Raise `Mistakes` if `resumeFrom` names the run that is overwritten, its model or one of its checkpoints."""
    source = job.spec.resume_from
    if source is None:
        return
    run, place = f"{located(job.output)}/", f"{located(place_of(source, 'resumeFrom'))}/"
    if place in (run, run + layout.MODEL) or place.startswith(run + layout.CHECKPOINTS):
        raise Mistakes.one(
            "resumeFrom", f"{source} is part of the run that --overwrite deletes. Give another --output."
        )


def existing_run_of_launch(job: Job, launch: Launch, storage: Storage) -> ExistingRun:
    """Processes that a launcher has started again continue the attempt that they began before."""
    run = read_run(storage) if launch.restart else None
    if run is not None and run.start is not None and run.start.about.get("launch") == launch.parent:
        return ExistingRun.CONTINUE
    return existing_run(job)
