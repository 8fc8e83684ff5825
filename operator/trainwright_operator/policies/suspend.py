"""Determines when a child that was asked to stop is deleted: it ended, none of its pods runs, or the grace is over."""

from __future__ import annotations

from datetime import datetime

from trainwright_api.resource.status import Attempt
from trainwright_operator.model import times
from trainwright_operator.model.observed import Child, Pod, of_child


def patience_ends(attempt: Attempt, grace: float) -> datetime | None:
    """Return the end of the grace period, None if the attempt was not asked to stop."""
    asked = times.read(attempt.stop_time)
    return times.after(asked, grace) if asked else None


def nothing_runs(child: Child, pods: tuple[Pod, ...]) -> bool:
    """True if no pod of the child runs: none has started, or all have ended."""
    own = of_child(pods, child.attempt, child.phase)
    return child.state != "running" and not any(pod.phase == "Running" for pod in own)


def over(attempt: Attempt, child: Child, pods: tuple[Pod, ...], now: datetime, grace: float) -> bool:
    end = patience_ends(attempt, grace)
    return nothing_runs(child, pods) or (end is not None and now >= end)
