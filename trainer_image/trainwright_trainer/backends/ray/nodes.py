"""Nodes that are about to be taken away.

`ray start` marks its own when it gets SIGTERM, and lives on for a while: time for a checkpoint. Ray Train looks for the
same marks, but tells its workers in a barrier, which no step can afford.
"""

from __future__ import annotations

from collections.abc import Set

import ray
from ray._private.state import state

EVERY_SECONDS = 1.0


class Nodes:
    """Those of the Ray that this process has joined. `here` is its own."""

    def __init__(self) -> None:
        self.here: str = ray.get_runtime_context().get_node_id()
        self._known: Set[str] = frozenset()
        self._next = 0.0

    def newly_leaving(self, now: float) -> Set[str]:
        """Told once of each; looked up once a second."""
        if now < self._next:
            return frozenset()
        self._next = now + EVERY_SECONDS
        known, self._known = self._known, state.get_draining_nodes().keys()
        return self._known - known
