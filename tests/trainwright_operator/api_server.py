"""A small HTTP server in place of the API server: a test scripts its answers, and it records its requests."""

from __future__ import annotations

import asyncio
import json
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable
from contextlib import asynccontextmanager
from typing import Any

from aiohttp import web
from kubernetes.aio.client import Configuration

from trainwright_operator.kube.client import Client, OnResponse
from trainwright_operator.kube.connection import Connection

Json = dict[str, Any]
Answer = Callable[[web.Request], Awaitable[web.StreamResponse]]
Part = Json | bytes | None
"""A part of a watch: an event, raw bytes, or None: nothing more comes, and the stream stays open."""


class ApiServer:
    """Returns the scripted answers in order. Without one, lists are empty and watches stay silent."""

    def __init__(self) -> None:
        self.requests: list[web.Request] = []
        self.bodies: list[Any] = []
        self.answers: list[Answer] = []
        """The answers to all requests except watches."""
        self.watches: list[Answer] = []
        self.discovery: dict[str, Json] = {}
        """The resources that the server knows, by path."""
        self.discovered: list[str] = []
        self.url = ""
        self.closing = asyncio.Event()

    @property
    def lists(self) -> list[web.Request]:
        return [request for request in self.requests if request.method == "GET" and "watch" not in request.query]

    @property
    def watched(self) -> list[web.Request]:
        return [request for request in self.requests if "watch" in request.query]

    async def handle(self, request: web.Request) -> web.StreamResponse:
        if request.path in self.discovery:
            self.discovered.append(request.path)
            return web.json_response(self.discovery[request.path])
        self.requests.append(request)
        content = await request.read()
        self.bodies.append(json.loads(content) if content else None)
        script, default = (self.watches, stream(None)) if "watch" in request.query else (self.answers, page())
        return await (script.pop(0) if script else default)(request)


SERVER = web.AppKey("server", ApiServer)


@asynccontextmanager
async def api_server(tls: ssl.SSLContext | None = None) -> AsyncIterator[ApiServer]:
    server = ApiServer()
    application = web.Application()
    application.router.add_route("*", "/{path:.*}", server.handle)
    application[SERVER] = server
    runner = web.AppRunner(application, shutdown_timeout=0.1)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0, ssl_context=tls)
    await site.start()
    server.url = f"{'https' if tls else 'http'}://127.0.0.1:{runner.addresses[0][1]}"
    try:
        yield server
    finally:
        server.closing.set()
        await runner.cleanup()


@asynccontextmanager
async def client_of(
    server: ApiServer, *, timeout: float = 5.0, requests: int = 8, on_response: OnResponse | None = None
) -> AsyncIterator[Client]:
    connection = Connection(Configuration(host=server.url))
    async with Client(connection, timeout=timeout, requests=requests, on_response=on_response) as client:
        yield client


def answer(body: Any, status: int = 200, **headers: str) -> Answer:
    async def answered(request: web.Request) -> web.StreamResponse:  # noqa: ARG001
        raw = body if isinstance(body, bytes) else json.dumps(body).encode()
        return web.Response(body=raw, status=status, headers={name.replace("_", "-"): v for name, v in headers.items()})

    return answered


def refusal(code: int, reason: str = "", message: str = "no") -> Answer:
    return answer(status_object(code, reason, message), code)


def status_object(code: int, reason: str = "", message: str = "no") -> Json:
    return {"kind": "Status", "apiVersion": "v1", "code": code, "reason": reason, "message": message}


def page(objects: Iterable[Json] = (), version: int = 1, token: str = "") -> Answer:
    return answer({"metadata": {"resourceVersion": str(version), "continue": token}, "items": list(objects)})


def stream(*parts: Part) -> Answer:
    """A watch that sends these parts and ends. With None as the last part it stays open."""

    async def streamed(request: web.Request) -> web.StreamResponse:
        response = web.StreamResponse()
        await response.prepare(request)
        for part in parts:
            if part is None:
                await request.app[SERVER].closing.wait()
            else:
                await response.write(part if isinstance(part, bytes) else json.dumps(part).encode() + b"\n")
        return response

    return streamed


async def hang(request: web.Request) -> web.StreamResponse:
    await request.app[SERVER].closing.wait()
    return web.Response()


async def reset(request: web.Request) -> web.StreamResponse:
    """Break the connection before an answer."""
    assert request.transport is not None
    request.transport.abort()
    return web.Response()


def cut(content: bytes) -> Answer:
    """Break the connection in the middle of the answer."""

    async def broken(request: web.Request) -> web.StreamResponse:
        response = web.StreamResponse(headers={"Content-Length": str(len(content) + 10)})
        await response.prepare(request)
        await response.write(content)
        assert request.transport is not None
        request.transport.close()
        return response

    return broken


def event(kind: str, raw: Json) -> Json:
    return {"type": kind, "object": raw}


def bookmark(version: int) -> Json:
    return event("BOOKMARK", {"kind": "ConfigMap", "metadata": {"resourceVersion": str(version)}})


def config_map(name: str, version: int, uid: str = "", *, value: str = "", namespace: str = "team") -> Json:
    """Return a ConfigMap, as an example of any object."""
    return {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {
            "namespace": namespace,
            "name": name,
            "uid": uid or f"uid-{name}",
            "resourceVersion": str(version),
        },
        "data": {"value": value or f"{name}@{version}"},
    }
