"""kopf as the process: it starts, it tells which job has changed, it ends. It decides and writes nothing.

No finalizer, no annotation, no Event, no peering, no look at namespaces or definitions: the operator's reflectors are
what it knows from, and the Lease is what it leads by.
"""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import Awaitable, Callable, Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import kopf

from trainwright_operator.connection import Connection
from trainwright_operator.resources import TRAINING_JOBS
from trainwright_operator.settings import Settings

TOKEN_SECONDS = 600.0
"""A service account's token is read again after so long: the kubelet renews the file."""
KEPT_SECONDS = 0.1
"""An object's worker of kopf's waits so long for more; by default 5 s, with thousands of them in memory."""


class Pauses:
    """Between tries to reach the API server. They never end: what the operator cannot reach is no reason to leave."""

    def __iter__(self) -> Iterator[float]:
        return itertools.chain((0.5, 1.0, 2.0, 4.0, 8.0), itertools.repeat(15.0))


async def follow(
    settings: Settings,
    connection: Connection,
    wake: Callable[[tuple[str, str]], None],
    end: Callable[[], Awaitable[None]],
    stop: asyncio.Event,
) -> None:
    """Runs kopf until SIGTERM, SIGINT or `stop`. `end` is awaited once kopf hears nothing any more."""
    await kopf.operator(
        registry=_registry(settings, connection, wake, end),
        clusterwide=settings.clusterwide,
        namespaces=settings.namespaces,
        standalone=True,
        stop_flag=stop,
    )


def _registry(
    settings: Settings,
    connection: Connection,
    wake: Callable[[tuple[str, str]], None],
    end: Callable[[], Awaitable[None]],
) -> kopf.OperatorRegistry:
    registry = kopf.OperatorRegistry()

    @kopf.on.startup(registry=registry)
    async def configure(settings: kopf.OperatorSettings, **_: Any) -> None:
        _configure(settings, watch_timeout)

    @kopf.on.login(registry=registry)
    async def login(**_: Any) -> kopf.ConnectionInfo:
        return await _credentials(connection)

    @kopf.on.event(TRAINING_JOBS.group, TRAINING_JOBS.version, TRAINING_JOBS.plural, registry=registry)
    async def changed(namespace: str | None, name: str | None, **_: Any) -> None:
        wake((namespace or "", name or ""))

    @kopf.on.cleanup(registry=registry)
    async def ended(**_: Any) -> None:
        await end()

    watch_timeout = settings.watch_timeout
    return registry


def _configure(settings: kopf.OperatorSettings, watch_timeout: float) -> None:
    settings.posting.enabled = False
    settings.scanning.disabled = True
    settings.peering.standalone = True
    # The API server takes whole seconds, and reads "300.0" as a mistake.
    settings.watching.server_timeout = max(1, round(watch_timeout))
    settings.watching.client_timeout = settings.watching.server_timeout * 1.2
    settings.watching.chunk_size = 500
    settings.queueing.idle_timeout = KEPT_SECONDS
    settings.queueing.exit_timeout = KEPT_SECONDS
    settings.networking.error_backoffs = Pauses()


async def _credentials(connection: Connection) -> kopf.ConnectionInfo:
    """Those of the operator's own client."""
    found = connection.configuration
    header = await found.get_api_key_with_prefix("BearerToken", alias="authorization")
    scheme, _, token = (header or "").strip().rpartition(" ")
    return kopf.ConnectionInfo(
        server=found.host,
        ca_path=found.ssl_ca_cert,
        ca_data=found.ca_cert_data,
        insecure=not found.verify_ssl,
        username=found.username or None,
        password=found.password or None,
        scheme=scheme or None,
        token=token or None,
        certificate_path=found.cert_file,
        private_key_path=found.key_file,
        proxy_url=found.proxy,
        expiration=datetime.now(UTC) + timedelta(seconds=TOKEN_SECONDS) if token else None,
    )
