"""The operator process. Every process runs the server, and one of them leads. This module only wires the parts."""

from __future__ import annotations

import asyncio
import logging
import os
import secrets
import signal
import socket
import time
from collections.abc import Coroutine, Mapping
from contextlib import AsyncExitStack, suppress
from dataclasses import dataclass, replace
from typing import Any

from aiohttp import web

from trainwright_operator import logs
from trainwright_operator.controller.operator import Operator, utc_now
from trainwright_operator.kube.client import Client
from trainwright_operator.kube.connection import Connection
from trainwright_operator.kube.leader_election import Lease, LeaseLost
from trainwright_operator.server.admission_endpoint import AdmissionEndpoint
from trainwright_operator.server.admission_worker import AdmissionWorker
from trainwright_operator.server.app import application, serving
from trainwright_operator.server.certificate_rotator import CertificateRotator
from trainwright_operator.server.health import Health, ProcessHealth
from trainwright_operator.server.metrics import Metrics
from trainwright_operator.server.pod_identity import Reviews
from trainwright_operator.server.progress import ProgressEndpoint
from trainwright_operator.settings import Settings

MISCONFIGURED = 2
FAILED = 1
LOOK_SECONDS = 0.1

log = logging.getLogger(__name__)


class Misconfigured(Exception):
    """The process cannot run with its settings or its kubeconfig. The message says in one line what to change."""


def main(environment: Mapping[str, str] = os.environ) -> int:
    """Run the operator. Return the exit code."""
    logs.configure()
    try:
        return asyncio.run(_run(_settings(environment)))
    except Misconfigured as error:
        log.error("%s", error)
        return MISCONFIGURED


def _settings(environment: Mapping[str, str]) -> Settings:
    """Read the settings. Without a configured identity, a random one also separates two processes on one machine."""
    try:
        settings = Settings.from_environment(environment)
    except ValueError as error:
        raise Misconfigured(f"the settings cannot be used: {error}") from None
    return replace(settings, identity=settings.identity or f"{socket.gethostname()}-{secrets.token_hex(4)}")


@dataclass(frozen=True)
class Clients:
    """The clients of the operator, each with its own connections and its own limit of concurrent requests.

    Posts of thousands of pods, or a slow API server, must not delay the renewal of the Lease or the passes.
    """

    passes: Client
    lease: Client
    posts: Client


async def _run(settings: Settings) -> int:
    metrics = Metrics()
    async with AsyncExitStack() as stack:
        return await Process(await open_clients(stack, settings, metrics), settings, metrics).run()


async def open_clients(stack: AsyncExitStack, settings: Settings, metrics: Metrics) -> Clients:
    """Connect the clients, until the stack is closed. Raises Misconfigured if there is no way to an API server."""

    async def client(requests: int) -> Client:
        made = Client(
            await _connection(), timeout=settings.request_timeout, requests=requests, on_response=metrics.requested
        )
        return await stack.enter_async_context(made)

    return Clients(passes=await client(64), lease=await client(2), posts=await client(16))


async def _connection() -> Connection:
    try:
        return await Connection.open()
    except Exception as error:  # For a wrong kubeconfig the library raises exceptions of many types.
        line = " ".join(str(error).split())
        raise Misconfigured(f"there is no way to an API server: {line}; KUBECONFIG names one") from None


class Process:
    def __init__(self, clients: Clients, settings: Settings, metrics: Metrics) -> None:
        self._clients, self._settings, self._metrics = clients, settings, metrics
        self._lease = Lease(clients.lease, settings, time.monotonic)
        self._rotator = CertificateRotator(clients.passes, settings, utc_now)
        self._health = ProcessHealth(self._lease, utc_now)
        metrics.certificate(lambda: self._rotator.expiry)
        self._stop = asyncio.Event()
        self._code = 0

    async def run(self) -> int:
        for number in (signal.SIGTERM, signal.SIGINT):
            asyncio.get_running_loop().add_signal_handler(number, self._stop.set)
        async with AsyncExitStack() as server:
            await self._serve(server)
            if await self._led():
                await self._lead()
        return self._code

    async def _serve(self, server: AsyncExitStack) -> None:
        """Start the server. It runs on every pod, also on those that do not lead."""
        wanted = self._settings.server_port
        try:
            worker = await server.enter_async_context(AdmissionWorker(self._settings))
            port = await server.enter_async_context(serving(self._app(worker), self._rotator.context, wanted))
        except OSError as error:
            raise Misconfigured(f"nothing can be served on port {wanted}: {error.strerror}") from None
        log.info("serving on port %d as %s", port, self._settings.identity)
        self._in_background(server, self._guarded(self._rotator.keep(lambda: self._lease.holds)))

    async def _led(self) -> bool:
        """Wait for the Lease. Return False if a signal comes first."""
        tasks = [asyncio.create_task(self._guarded(self._lease.acquire())), asyncio.create_task(self._stop.wait())]
        await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        await _ended(*tasks)
        if self._stop.is_set():
            await self._lease.release()
        return not self._stop.is_set()

    async def _lead(self) -> None:
        operator = Operator(
            self._clients.passes,
            self._settings,
            observer=self._metrics,
            ca=lambda: self._rotator.bundle,
            leading=lambda: self._lease.holds,
        )
        self._health.view = operator.view
        self._metrics.leading(True)
        async with AsyncExitStack() as leading:
            leading.push_async_callback(self._lease.release)
            self._in_background(leading, self._guarded(self._hold()))
            self._in_background(leading, self._guarded(self._work(operator)))
            await self._stop.wait()

    async def _hold(self) -> None:
        """Renew the Lease. The process exits as soon as it loses the Lease, before it can write anything."""
        try:
            await self._lease.hold()
        except LeaseLost as error:
            log.error("%s: exiting at once", error)
            os._exit(FAILED)

    async def _work(self, operator: Operator) -> None:
        """Run the operator once the certificates are loaded: pods that post progress need the CA at their start."""
        while self._settings.progress_url and not self._rotator.loaded:
            await asyncio.sleep(LOOK_SECONDS)
        await operator.run()

    async def _guarded(self, work: Coroutine[Any, Any, Any]) -> None:
        try:
            await work
        except Exception:  # The outermost handler: a bug ends the process, and Kubernetes restarts it.
            log.exception("the operator failed")
            self._code = FAILED
            self._stop.set()

    def _in_background(self, stack: AsyncExitStack, work: Coroutine[Any, Any, Any]) -> None:
        stack.push_async_callback(_ended, asyncio.create_task(work))

    def _app(self, worker: AdmissionWorker) -> web.Application:
        reviews = Reviews(self._clients.posts, time.monotonic)
        progress = ProgressEndpoint(
            self._clients.posts, reviews, self._metrics, interval=self._settings.progress_interval, now=utc_now
        )
        health = Health(self._health, self._settings.stale_after, lambda: self._rotator.loaded)
        admission = AdmissionEndpoint(self._metrics, worker.answer)
        return application(admission=admission, progress=progress, metrics=self._metrics, health=health)


async def _ended(*tasks: asyncio.Task[Any]) -> None:
    for task in tasks:
        task.cancel()
    for task in tasks:
        with suppress(asyncio.CancelledError):
            await task
