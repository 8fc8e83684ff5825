"""Pods that the controller of a child cannot create, for example because of a ResourceQuota. For display only.

KubeRay writes the reason into the status of the RayJob. The Job controller writes it only into an event of the Job,
which is read when pods are missing for a while.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from trainwright_operator.model import times
from trainwright_operator.model.observed import Child, Pod

FIRST_LOOK_SECONDS = 5.0
"""Controllers create the pods of a child within a second or two."""
SECONDS_BETWEEN_LOOKS = 30.0
"""Longer than the events of a namespace are remembered."""


def lacks_pods(child: Child, pods: Sequence[Pod]) -> bool:
    """True if a child that does not run yet lacks pods. A submitter is created once the other pods run."""
    live = [pod for pod in pods if not pod.ended]
    return child.state == "pending" and (len(live) < child.pods or all(pod.started for pod in live))


def must_look(child: Child, pods: Sequence[Pod], now: datetime) -> bool:
    return lacks_pods(child, pods) and not child.pods_refused and now >= _first_look(child)


def next_look(child: Child, pods: Sequence[Pod], now: datetime) -> datetime | None:
    """Return the time at which the events of the child are read next; None if it lacks no pod."""
    if not lacks_pods(child, pods):
        return None
    first = _first_look(child)
    return first if now < first else times.after(now, SECONDS_BETWEEN_LOOKS)


def _first_look(child: Child) -> datetime:
    return times.after(child.created, FIRST_LOOK_SECONDS)
