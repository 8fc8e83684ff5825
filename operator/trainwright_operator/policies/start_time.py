"""The start time of an attempt: that of its last pod, since training needs all of them."""

from __future__ import annotations

from datetime import datetime

from trainwright_api.resource.status import Attempt
from trainwright_operator.model.observed import Child, Pod, of_child


def began(child: Child | None, pods: tuple[Pod, ...], attempt: Attempt, now: datetime) -> datetime | None:
    """Return the start time, None if the child never ran.

    If its pods are gone, it is the child's own start time, which may be slightly early.
    """
    if child is None or child.state in ("pending", "suspended"):
        return None
    starts = [pod.started for pod in of_child(pods, attempt.number, attempt.phase) if pod.started is not None]
    if starts:
        return min(max(starts), now)
    if child.state == "running":
        return now
    return child.started
