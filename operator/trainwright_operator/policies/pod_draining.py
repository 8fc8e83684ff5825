"""Determines which pods delay the next attempt, and which pods are lost.

All pods of the old attempt delay it until they are gone or have ended. A pod on a lost node never reports that it has
ended, so it is ignored some time after its grace period. The fence of the run folder makes that safe.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime, timedelta

from trainwright_operator.model.observed import Node, Pod, Snapshot


def blocking(snapshot: Snapshot, now: datetime, grace: float) -> tuple[Pod, ...]:
    """Return the pods to wait for.

    `grace`: seconds past a pod's own grace period, on a node that is not ready or absent.
    """
    return tuple(pod for pod in snapshot.pods if not pod.ended and not _is_ignored(pod, snapshot.nodes, now, grace))


def lost(pods: Iterable[Pod], nodes: tuple[Node, ...] | None, now: datetime) -> tuple[Pod, ...]:
    """Return the pods on lost nodes after their grace period. Their controller does not replace them."""
    return tuple(pod for pod in pods if pod.node and not pod.ended and _is_ignored(pod, nodes, now, 0.0))


def next_check(pods: Iterable[Pod], grace: float) -> datetime | None:
    """Return the earliest time at which one of the pods may be ignored, if its node is lost."""
    ends = [pod.deletion_time + timedelta(seconds=grace) for pod in pods if pod.deletion_time]
    return min(ends, default=None)


def _is_ignored(pod: Pod, nodes: tuple[Node, ...] | None, now: datetime, grace: float) -> bool:
    if pod.node is None:
        return pod.deletion_time is not None  # never scheduled, so it never ran
    if nodes is None or pod.deletion_time is None:
        return False
    ready = any(node.name == pod.node and node.ready for node in nodes)
    return not ready and now >= pod.deletion_time + timedelta(seconds=grace)
