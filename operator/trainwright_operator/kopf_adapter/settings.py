"""kopf's configuration: kopf lists, watches and calls the handlers. It writes nothing and stores nothing.

`Pauses` is the exponential backoff of kopf's requests, of its short watches and of its restarts.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import kopf
from kopf._core.reactor.inventory import ResourceMemories, ResourceMemory

from trainwright_operator.kube.client import PAGE_LIMIT
from trainwright_operator.settings import Settings

WORKER_SECONDS = 0.5
"""kopf ends the worker of an object this long after its last event."""
EXIT_SECONDS = 0.1
"""The seconds that kopf waits for handlers at its end. Our handlers never wait."""


class Pauses:
    """An infinite sequence of pauses in seconds that double up to a limit.

    Each iteration starts from `base`; `next` continues one shared iteration until `reset`.
    """

    def __init__(self, base: float, limit: float) -> None:
        self._base, self._limit = base, limit
        self._going = iter(self)

    def __iter__(self) -> Iterator[float]:
        pause = self._base
        while True:
            yield min(pause, self._limit)
            pause = min(2 * pause, self._limit)

    def next(self) -> float:
        return next(self._going)

    def reset(self) -> None:
        self._going = iter(self)


def configure(settings: kopf.OperatorSettings, ours: Settings) -> None:
    # `event_recorder.py` writes the events, once for each change of a status, in parallel to the passes.
    settings.posting.enabled = False
    # Scanning would need the permission to read all namespaces and CustomResourceDefinitions.
    settings.scanning.disabled = True
    # The Lease elects the leader.
    settings.peering.standalone = True
    # The process outlives kopf.
    settings.process.ultimate_exiting_timeout = None
    settings.persistence.diffbase_storage = NoDiffs()
    settings.queueing.idle_timeout = WORKER_SECONDS
    settings.queueing.exit_timeout = EXIT_SECONDS
    settings.networking.request_timeout = ours.request_timeout
    settings.networking.connect_timeout = ours.request_timeout
    settings.networking.error_backoffs = Pauses(ours.retry_base, ours.retry_limit)
    settings.watching.server_timeout = max(1, round(ours.watch_timeout))
    settings.watching.client_timeout = ours.watch_timeout + ours.request_timeout
    settings.watching.reconnect_backoff = ours.retry_base
    settings.watching.chunk_size = PAGE_LIMIT


class NoDiffs(kopf.DiffBaseStorage):
    """Disables kopf's diffs: they compare an object with a copy in its annotations, for handlers that we do not use."""

    def build(self, **_: Any) -> Any:
        return {}

    def fetch(self, **_: Any) -> None:
        return None

    def store(self, **_: Any) -> None:
        return None


class NoMemories(ResourceMemories):
    """Disables kopf's memory: it keeps an object until it sees the deletion, and it can miss the deletion."""

    async def recall(self, raw_body: Any, **more: Any) -> ResourceMemory:
        return await super().recall(raw_body, **{**more, "ephemeral": True})
