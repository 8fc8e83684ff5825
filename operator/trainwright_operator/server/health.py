"""/healthz and /readyz. A leader that receives nothing from the API server fails its liveness probe and restarts."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from datetime import datetime
from typing import Protocol

from aiohttp import web

from trainwright_operator.informer.cluster_view import ClusterView
from trainwright_operator.kube.leader_election import Lease


class ProcessHealth:
    """The state of this process: if it leads, and how long the API server has been silent.

    `view` is set once the process leads.
    """

    def __init__(self, lease: Lease, now: Callable[[], datetime]) -> None:
        self._lease, self._now = lease, now
        self.view: ClusterView | None = None

    @property
    def leading(self) -> bool:
        return self._lease.holds

    @property
    def silences(self) -> Mapping[str, float]:
        """Seconds since the last response of the API server, by watched resource."""
        if self.view is None:
            return {}
        return {"the watches": (self._now() - self.view.last_seen()).total_seconds()}


class HealthSource(Protocol):
    """The interface of `ProcessHealth`."""

    @property
    def leading(self) -> bool: ...

    @property
    def silences(self) -> Mapping[str, float]: ...


class Health:
    """Answers the probes. `loaded` returns True if the server has a valid certificate."""

    def __init__(self, source: HealthSource, stale_after: float, loaded: Callable[[], bool]) -> None:
        self._source, self._stale_after, self._loaded = source, stale_after, loaded

    def failures(self) -> Iterator[str]:
        """Yield the reasons to restart this process. A process that does not lead watches nothing."""
        if self._source.leading:
            for resource, seconds in sorted(self._source.silences.items()):
                if seconds > self._stale_after:
                    yield f"{resource}: no response from the API server for {seconds:.0f} s"

    async def healthz(self, _: web.Request) -> web.Response:
        return _answer(list(self.failures()))

    async def readyz(self, _: web.Request) -> web.Response:
        return _answer([] if self._loaded() else ["there is no valid certificate"])


def _answer(faults: list[str]) -> web.Response:
    return web.Response(text="".join(f"{line}\n" for line in faults or ["ok"]), status=503 if faults else 200)
