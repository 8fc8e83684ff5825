"""kopf as the process: it starts, it finds its credentials, it ends. It sees, decides and writes nothing.

The operator's own reflectors wake it: a second watch of the same jobs would tell nothing more, hold every one of them
in memory again, and end the process on the first that is nested deeper than Python's parser goes.
"""

from __future__ import annotations

import asyncio
import itertools
import ssl
from collections.abc import Awaitable, Callable, Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import kopf

from trainwright_operator.connection import Connection
from trainwright_operator.settings import Settings

TOKEN_SECONDS = 600.0
"""A service account's token is read again after so long: the kubelet renews the file."""
EXIT_SECONDS = 0.1
"""How long kopf waits at its end; there is nothing of its own to wait for."""


class Pauses:
    """Between tries to reach the API server. They never end: what the operator cannot reach is no reason to leave."""

    def __iter__(self) -> Iterator[float]:
        return itertools.chain((0.5, 1.0, 2.0, 4.0, 8.0), itertools.repeat(15.0))


async def run(
    settings: Settings, connection: Connection, end: Callable[[], Awaitable[None]], stop: asyncio.Event
) -> None:
    """Runs kopf until SIGTERM, SIGINT or `stop`; then awaits `end`."""
    await kopf.operator(
        registry=_registry(connection, end),
        clusterwide=settings.clusterwide,
        namespaces=settings.namespaces,
        standalone=True,
        stop_flag=stop,
    )


def _registry(connection: Connection, end: Callable[[], Awaitable[None]]) -> kopf.OperatorRegistry:
    registry = kopf.OperatorRegistry()

    @kopf.on.startup(registry=registry)
    async def configure(settings: kopf.OperatorSettings, **_: Any) -> None:
        _configure(settings)

    @kopf.on.login(registry=registry)
    async def login(**_: Any) -> kopf.ConnectionInfo:
        return await _credentials(connection)

    @kopf.on.cleanup(registry=registry)
    async def ended(**_: Any) -> None:
        await end()

    return registry


def _configure(settings: kopf.OperatorSettings) -> None:
    settings.posting.enabled = False
    settings.scanning.disabled = True
    settings.peering.standalone = True
    settings.queueing.exit_timeout = EXIT_SECONDS
    settings.networking.error_backoffs = Pauses()


class _Credentials(kopf.ConnectionInfo):
    def as_ssl_context(self) -> ssl.SSLContext:
        """No stricter than our own client's, whatever the version of Python."""
        context = super().as_ssl_context()
        context.verify_flags &= ~ssl.VERIFY_X509_STRICT
        return context


async def _credentials(connection: Connection) -> kopf.ConnectionInfo:
    """Those of the operator's own client."""
    found = connection.configuration
    header = await found.get_api_key_with_prefix("BearerToken", alias="authorization")
    scheme, _, token = (header or "").strip().rpartition(" ")
    return _Credentials(
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
