"""The action for a run that exists at the output location already."""

from __future__ import annotations

from trainwright_trainer.backends.launchers import Launch
from trainwright_trainer.job.job import Job
from trainwright_trainer.rundir.preflight import ExistingRun
from trainwright_trainer.rundir.record import read_run
from trainwright_trainer.storage.base import Storage


def existing_run(job: Job) -> ExistingRun:
    """The action that the options ask for. A pod continues."""
    if job.attempt is not None:
        return ExistingRun.CONTINUE
    if job.options.overwrite:
        return ExistingRun.OVERWRITE
    return ExistingRun.RESUME if job.options.resume else ExistingRun.NEW


def existing_run_of_launch(job: Job, launch: Launch, storage: Storage) -> ExistingRun:
    """Processes that a launcher has started again continue the attempt that they began before."""
    run = read_run(storage) if launch.restart else None
    if run is not None and run.start is not None and run.start.about.get("launch") == launch.parent:
        return ExistingRun.CONTINUE
    return existing_run(job)
