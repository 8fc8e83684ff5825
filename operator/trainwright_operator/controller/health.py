"""The state that the probes report: if this process leads, and how long the API server has been silent."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import datetime

from trainwright_operator.informer.cluster_view import ClusterView
from trainwright_operator.kube.leader_election import Lease


class ProcessHealth:
    """The input of the probes. `view` is set once the process leads."""

    def __init__(self, lease: Lease, now: Callable[[], datetime]) -> None:
        self._lease, self._now = lease, now
        self.view: ClusterView | None = None

    @property
    def leading(self) -> bool:
        return self._lease.holds

    @property
    def silences(self) -> Mapping[str, float]:
        if self.view is None:
            return {}
        return {"the watches": (self._now() - self.view.last_seen()).total_seconds()}
