"""How kopf is set up: it lists, watches and calls the handlers. It writes nothing, and remembers nothing."""

from __future__ import annotations

from typing import Any

import kopf
from kopf._core.reactor.inventory import ResourceMemories, ResourceMemory

from trainwright_operator.kopf_adapter.backoff import Pauses
from trainwright_operator.kube.client import PAGE_LIMIT
from trainwright_operator.settings import Settings

WORKER_SECONDS = 0.5
"""kopf keeps an object for so long after its last event."""
EXIT_SECONDS = 0.1
"""How long kopf waits at its end for handlers; ours never wait."""


def configure(settings: kopf.OperatorSettings, ours: Settings) -> None:
    # Events are written by `event_recorder.py`, once for each change of a status, and beside the passes.
    settings.posting.enabled = False
    # It would ask for the right to see all namespaces and definitions of resources.
    settings.scanning.disabled = True
    # The Lease decides who leads.
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
    """kopf compares an object with what it has stored in it, for handlers that we do not have."""

    def build(self, **_: Any) -> Any:
        return {}

    def fetch(self, **_: Any) -> None:
        return None

    def store(self, **_: Any) -> None:
        return None


class NoMemories(ResourceMemories):
    """kopf remembers an object until it hears that it was deleted, which it may never hear."""

    async def recall(self, raw_body: Any, **more: Any) -> ResourceMemory:
        return await super().recall(raw_body, **{**more, "ephemeral": True})
