"""Which pods hold up the next attempt, and which are lost.

All of the old attempt's, until they are gone or have ended. A pod on a lost node never says that it has ended: it is
passed over some time after its grace period, and the run folder's fence makes that safe.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime, timedelta

from trainwright_operator.model.observed import Node, Pod, World


def blocking(world: World, now: datetime, grace: float) -> tuple[Pod, ...]:
    """The pods to wait for. `grace`: seconds past a pod's own grace period, on a node that is not ready or absent."""
    return tuple(pod for pod in world.pods if not pod.ended and not _passed_over(pod, world.nodes, now, grace))


def lost(pods: Iterable[Pod], nodes: tuple[Node, ...] | None, now: datetime) -> tuple[Pod, ...]:
    """Those on a lost node that should have gone by now. Whoever made them waits for them, and makes no others."""
    return tuple(pod for pod in pods if pod.node and not pod.ended and _passed_over(pod, nodes, now, 0.0))


def looks_again(pods: Iterable[Pod], grace: float) -> datetime | None:
    """When the first of the pods may be passed over, if its node is lost."""
    ends = [pod.deletion_time + timedelta(seconds=grace) for pod in pods if pod.deletion_time]
    return min(ends, default=None)


def _passed_over(pod: Pod, nodes: tuple[Node, ...] | None, now: datetime, grace: float) -> bool:
    if pod.node is None:
        return pod.deletion_time is not None  # it never ran
    if nodes is None or pod.deletion_time is None:
        return False
    ready = any(node.name == pod.node and node.ready for node in nodes)
    return not ready and now >= pod.deletion_time + timedelta(seconds=grace)
