"""The running time of a job over all attempts, and its deadline. The time spent waiting for room does not count."""

from __future__ import annotations

from datetime import datetime

from trainwright_api.resource.status import Attempt, TrainingJobStatus
from trainwright_operator.model import times
from trainwright_operator.policies.limits import Limits


def seconds_of(attempt: Attempt, until: datetime) -> float:
    """Return the running time of the attempt in seconds, 0 if its pods never ran."""
    started = times.read(attempt.start_time)
    return max(0.0, (until - started).total_seconds()) if started else 0.0


def passes(status: TrainingJobStatus, attempt: Attempt, limits: Limits) -> datetime | None:
    """Return the time at which the running attempt exceeds the deadline; None without a deadline, or while it waits."""
    started = times.read(attempt.start_time)
    if limits.active_deadline is None or started is None:
        return None
    return times.after(started, limits.active_deadline - (status.active_seconds or 0))
