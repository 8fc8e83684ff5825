"""The limits of a job, and the times that follow from them: the deadline, the end of a stop, and the cleanup."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from trainwright_api.resource.job import TrainingJobSpec
from trainwright_api.resource.status import Attempt, TrainingJobStatus
from trainwright_operator.model import times
from trainwright_operator.model.observed import Child, Job, Pod, of_child

_FIELDS = TrainingJobSpec.model_fields


@dataclass(frozen=True)
class Limits:
    """The schema validates these fields, so they can be read from a spec that is invalid for other reasons."""

    backoff: int
    preemption: int
    active_deadline: int | None
    """Seconds."""
    resize: int = _FIELDS["resize_limit"].default
    start_deadline: int = _FIELDS["start_deadline_seconds"].default
    """Seconds."""

    @classmethod
    def of(cls, spec: Mapping[str, Any]) -> Limits:
        deadline = spec.get("activeDeadlineSeconds")
        return cls(
            backoff=_number(spec, "backoffLimit", _FIELDS["backoff_limit"].default),
            preemption=_number(spec, "preemptionLimit", _FIELDS["preemption_limit"].default),
            resize=_number(spec, "resizeLimit", _FIELDS["resize_limit"].default),
            active_deadline=deadline if isinstance(deadline, int) else None,
            start_deadline=_number(spec, "startDeadlineSeconds", _FIELDS["start_deadline_seconds"].default),
        )


def start_time(child: Child | None, pods: tuple[Pod, ...], attempt: Attempt, now: datetime) -> datetime | None:
    """Return the start time of an attempt, None if its child never ran.

    It is that of the last pod, since training needs all of them. If the pods are gone, it is the child's own start
    time, which may be slightly early.
    """
    if child is None or child.state in ("pending", "suspended"):
        return None
    starts = [pod.started for pod in of_child(pods, attempt.number, attempt.stage) if pod.started is not None]
    if starts:
        return min(max(starts), now)
    if child.state == "running":
        return now
    return child.started


def active_seconds(attempt: Attempt, until: datetime) -> float:
    """Return the running time of the attempt in seconds, 0 if its pods never ran."""
    started = times.read(attempt.start_time)
    return max(0.0, (until - started).total_seconds()) if started else 0.0


def active_deadline(status: TrainingJobStatus, attempt: Attempt, limits: Limits) -> datetime | None:
    """Return the time at which the running attempt exceeds the deadline; None without a deadline, or while it waits."""
    started = times.read(attempt.start_time)
    if limits.active_deadline is None or started is None:
        return None
    return times.after(started, limits.active_deadline - (status.active_seconds or 0))


def is_spent(status: TrainingJobStatus, limits: Limits) -> bool:
    """True if the attempts before the running one have run for as long as the deadline allows. It may have been
    lowered."""
    return limits.active_deadline is not None and (status.active_seconds or 0) >= limits.active_deadline


def stop_deadline(attempt: Attempt, grace: float) -> datetime | None:
    """Return the end of the grace period, None if the attempt was not asked to stop."""
    asked = times.read(attempt.stop_time)
    return times.after(asked, grace) if asked else None


def nothing_runs(child: Child, pods: tuple[Pod, ...]) -> bool:
    """True if no pod of the child runs: none has started, or all have ended."""
    own = of_child(pods, child.attempt, child.stage)
    return child.state != "running" and not any(pod.phase == "Running" for pod in own)


def has_stopped(attempt: Attempt, child: Child, pods: tuple[Pod, ...], now: datetime, grace: float) -> bool:
    """True if a child that was asked to stop may be deleted: none of its pods runs, or the grace is over."""
    end = stop_deadline(attempt, grace)
    return nothing_runs(child, pods) or (end is not None and now >= end)


def cleanup_time(job: Job, default: int | None = None) -> datetime | None:
    """Return the time at which a finished job is cleaned up; None: never. `default`: for a job without a value."""
    ended = times.read(job.status.completion_time)
    seconds = default if job.ttl_seconds is None else job.ttl_seconds
    return None if seconds is None or ended is None else times.after(ended, seconds)


def _number(spec: Mapping[str, Any], key: str, default: int) -> int:
    value = spec.get(key)
    return value if isinstance(value, int) else default
