"""The nodes of the cluster: whether they can hold the workers, and those that are draining.

`ray start` marks its node as draining when it receives SIGTERM, and runs on for a while: time for a checkpoint. Ray
Train reads the same marks, but reports them to its workers in a barrier, which is too slow for a step.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Set
from typing import Any

import ray
from ray._private.state import state

from trainwright_trainer.backends.ray.resources import WorkerResources, missing_line

EVERY_SECONDS = 1.0
STOP_REASON_OF_DRAIN = "SIGTERM"
"""The reason of the stop when the driver's own node is drained: only `ray start` has received the signal."""


def log_missing(needs: WorkerResources, log: Callable[[str], None]) -> None:
    """Log one line if the nodes of the cluster cannot hold all workers.

    Ray Train asks the autoscaler for the workers by itself, and waits without a limit until all of them have room.
    """
    if line := missing_line(needs, resources_of_nodes()):
        log(line)


def resources_of_nodes() -> list[Mapping[str, float]]:
    """The resources of each living node, by name."""
    return [node["Resources"] for node in living_nodes()]


def living_nodes() -> list[dict[str, Any]]:
    """Ray's facts about each living node."""
    nodes: list[dict[str, Any]] = ray.nodes()  # type: ignore[no-untyped-call]
    return [node for node in nodes if node["Alive"]]


class Nodes:
    """The nodes of the cluster that this process has joined. `here`: the id of its own node."""

    def __init__(self) -> None:
        self.here: str = ray.get_runtime_context().get_node_id()
        self._known: Set[str] = frozenset()
        self._next = 0.0

    def newly_draining(self, now: float) -> Set[str]:
        """The ids of nodes that have begun to drain since the last call. Polled at most once a second."""
        if now < self._next:
            return frozenset()
        self._next = now + EVERY_SECONDS
        known, self._known = self._known, state.get_draining_nodes().keys()
        return self._known - known
