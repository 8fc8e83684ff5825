"""When an attempt began to run: when the last of its pods did, since none trains before all are there."""

from __future__ import annotations

from datetime import datetime

from trainwright_api.resource.status import Attempt
from trainwright_operator.model.observed import Child, Pod, of_child


def began(child: Child | None, pods: tuple[Pod, ...], attempt: Attempt, now: datetime) -> datetime | None:
    """None for a child that never ran. Where its pods are gone, the child's own time, which may be a little early."""
    if child is None or child.state in ("pending", "suspended"):
        return None
    starts = [pod.started for pod in of_child(pods, attempt.number, attempt.phase) if pod.started is not None]
    if starts:
        return min(max(starts), now)
    if child.state == "running":
        return now
    return child.started
