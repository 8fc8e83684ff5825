"""Begin an attempt and write its outcome. Used by local runs and by the driver on Ray."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

from trainwright_trainer.errors import TRAINED, EnvironmentFailure, Outcome
from trainwright_trainer.job.job import Job
from trainwright_trainer.job.source import CheckpointSource
from trainwright_trainer.job.versions import versions
from trainwright_trainer.rundir.attempt import Attempt, AttemptReference, begin
from trainwright_trainer.rundir.preflight import ExistingRun
from trainwright_trainer.rundir.record import write_outcome
from trainwright_trainer.storage.base import Storage
from trainwright_trainer.storage.registry import storage_at


def begin_attempt(
    job: Job,
    storage: Storage,
    how: ExistingRun,
    content: str | None,
    log: Callable[..., None],
    *,
    launch: str | None = None,
) -> Attempt:
    """Begin the attempt under its number. `content`: the hash of the data; `launch`: the process that has started this
    one, if it may start it again. Raises the exceptions of `begin`.
    """
    about = {"versions": versions(), "launch": launch}
    source = job.source.opened(job.keys.artifacts) if isinstance(job.source, CheckpointSource) else None
    attempt = begin(
        storage, job.plain(), how, name=job.name, content=content, number=job.attempt, source=source, about=about
    )
    log(*attempt.notices)
    return attempt


def attempt_of(reference: AttemptReference, job: Job, storage: Storage) -> Attempt:
    """The attempt that another process has begun, with its checkpoint. Raises `Damaged`."""
    return reference.attempt(storage, lambda run: storage_at(run, job.keys.artifacts))


@contextmanager
def recording_outcome(attempt: Callable[[], Attempt | None], done: Outcome = TRAINED) -> Iterator[None]:
    """Write outcome.json on success (`done`) and on any `Exception`. A second interrupt writes nothing, like a kill.
    Raises `EnvironmentFailure` at the end of an attempt that a newer one has superseded.

    `attempt` is called on exit. If it returns None, no attempt has begun, and nothing is written.
    """
    try:
        yield
        _refuse_superseded(attempt())
    except Exception as error:
        with suppress(EnvironmentFailure):  # the first failure is the one to report
            _write(attempt(), Outcome.traced(error))
        raise
    _write(attempt(), done)


def _refuse_superseded(attempt: Attempt | None) -> None:
    """Raise `EnvironmentFailure` if the files of the run belong to a newer attempt."""
    if attempt is not None and attempt.superseded():
        line = f"attempt {attempt.number} was replaced by a newer one while it ran: its model is not written"
        raise EnvironmentFailure(f"{attempt.storage.location}: {line}")


def _write(attempt: Attempt | None, ended: Outcome) -> None:
    if attempt is not None:
        write_outcome(attempt.storage, attempt.number, ended)
