"""The first and the last thing that an attempt writes, whoever trains in it: that it began, and how it ended."""

from __future__ import annotations

import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

from trainwright_trainer.errors import EnvironmentFailure
from trainwright_trainer.job.job import Job
from trainwright_trainer.job.versions import versions
from trainwright_trainer.rundir import outcome
from trainwright_trainer.rundir.attempt import Attempt, begin
from trainwright_trainer.rundir.outcome import TRAINED, Outcome
from trainwright_trainer.rundir.preflight import ExistingRun
from trainwright_trainer.storage.base import Storage


def attempt_reference(
    job: Job, storage: Storage, how: ExistingRun, content: str | None, say: Callable[..., None]
) -> Attempt:
    """The attempt, which has taken its number. `content`: the hash of the data. Raises what `begin` raises."""
    attempt = begin(storage, job.plain(), how, name=job.name, content=content, number=job.attempt, versions=versions())
    say(*attempt.notices)
    return attempt


@contextmanager
def told_in_the_folder(attempt: Callable[[], Attempt | None]) -> Iterator[None]:
    """Whatever ends the attempt, outcome.json says it; a user's second interrupt is as a kill.

    `attempt` is asked at the end. None: nothing began, and nothing is written.
    """
    try:
        yield
    except Exception as error:
        with suppress(EnvironmentFailure):  # the first failure is the one to tell
            _write(attempt(), Outcome.of(error, traceback.format_exc().splitlines()))
        raise
    _write(attempt(), TRAINED)


def _write(attempt: Attempt | None, ended: Outcome) -> None:
    if attempt is not None:
        outcome.write(attempt.storage, attempt.number, ended)
