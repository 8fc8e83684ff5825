"""The TLS server of every operator pod: webhook, progress, metrics and probes."""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager

from aiohttp import web

from trainwright_operator.server.admission_endpoint import AdmissionEndpoint
from trainwright_operator.server.health import Health
from trainwright_operator.server.metrics import Metrics
from trainwright_operator.server.progress import PATH, ProgressEndpoint

BODY_LIMIT = 3 * 2**20
"""An AdmissionReview contains an object twice, and etcd stores objects of up to 1.5 MiB."""

GOODBYE = 0.1
"""Seconds for the last responses to reach their clients."""

Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]


def application(
    *, admission: AdmissionEndpoint, progress: ProgressEndpoint, metrics: Metrics, health: Health
) -> web.Application:
    """Return the application with all paths. An unknown path gets a 404 and a wrong method a 405, both in JSON."""
    app = web.Application(client_max_size=BODY_LIMIT, middlewares=[_errors_as_json])
    app.router.add_post("/admission", admission.handle)
    app.router.add_post(PATH, progress.handle)
    app.router.add_get("/metrics", metrics.handle)
    app.router.add_get("/healthz", health.healthz)
    app.router.add_get("/readyz", health.readyz)
    return app


@asynccontextmanager
async def serving(
    app: web.Application, context: ssl.SSLContext, port: int, host: str | None = None
) -> AsyncIterator[int]:
    """Serve during the block, on all addresses or on `host`. Yields the port. Port 0: any free port."""
    runner = web.AppRunner(app, access_log=None, shutdown_timeout=5.0)
    await runner.setup()
    try:
        await web.TCPSite(runner, host, port, ssl_context=context).start()
        yield runner.addresses[0][1]
    finally:
        await _close(runner)


async def _close(runner: web.AppRunner) -> None:
    """Close the server and all connections. aiohttp leaves connections open if the peer does not answer the TLS
    close_notify, or if their handshake completes during the cleanup: the API server opens connections in advance.
    """
    server = runner.server
    assert server is not None
    open_before = _transports(server)
    await runner.cleanup()
    await asyncio.sleep(GOODBYE)
    for transport in open_before | _transports(server):
        transport.abort()
    await asyncio.sleep(0)


def _transports(server: web.Server) -> set[asyncio.Transport]:
    return {connection.transport for connection in server.connections if connection.transport is not None}


@web.middleware
async def _errors_as_json(request: web.Request, handler: Handler) -> web.StreamResponse:
    try:
        return await handler(request)
    except web.HTTPException as refused:
        headers = {key: value for key, value in refused.headers.items() if key == "Allow"}
        return web.json_response({"message": refused.reason}, status=refused.status, headers=headers)
