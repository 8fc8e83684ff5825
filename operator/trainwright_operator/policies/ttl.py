"""The time at which a finished job is cleaned up."""

from __future__ import annotations

from datetime import datetime

from trainwright_operator.model import times
from trainwright_operator.model.observed import Job


def due(job: Job) -> datetime | None:
    """Return the cleanup time; None: never."""
    ended = times.read(job.status.completion_time)
    if job.ttl_seconds is None or ended is None:
        return None
    return times.after(ended, job.ttl_seconds)
