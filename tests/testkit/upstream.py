"""A small server behind the proxy: it keeps what is posted, lists it, and streams the events that it is given."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from aiohttp import web
from testkit.api import Api
from testkit.cluster import kubectl
from testkit.proxy import Proxy


def event(type_: str, name: str, version: int) -> dict[str, Any]:
    return {"type": type_, "object": {"metadata": {"name": name, "uid": name, "resourceVersion": str(version)}}}


@dataclass
class Upstream:
    events: Sequence[dict[str, Any]] = ()
    posted: list[Any] = field(default_factory=list)
    port: int = 0

    async def answer(self, request: web.BaseRequest) -> web.StreamResponse:
        if request.query.get("watch"):
            return await self._stream(request)
        if request.method == "GET":
            return web.json_response({"metadata": {"resourceVersion": "1"}, "items": self.posted})
        self.posted.append(await request.json())
        return web.json_response(self.posted[-1], status=201)

    async def _stream(self, request: web.BaseRequest) -> web.StreamResponse:
        response = web.StreamResponse()
        await response.prepare(request)
        for sent in self.events:
            await response.write(json.dumps(sent).encode() + b"\n")
        # Long enough that only a fault ends the stream; closing the server ends it too.
        await asyncio.sleep(0.6)
        return response


@asynccontextmanager
async def behind_proxy(folder: Path, upstream: Upstream, seed: int = 0) -> AsyncIterator[tuple[Proxy, Api]]:
    """The proxy before `upstream`, and a client of the proxy."""
    runner = web.ServerRunner(web.Server(upstream.answer), shutdown_timeout=0.1)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    [address] = runner.addresses
    name = kubectl.NAME
    config = {
        "current-context": name,
        "clusters": [{"name": name, "cluster": {"server": f"http://127.0.0.1:{address[1]}"}}],
        "contexts": [{"name": name, "context": {"cluster": name, "user": name}}],
        "users": [{"name": name, "user": {"token": "operator"}}],
    }
    path = kubectl.write(folder / "upstream-kubeconfig", config)
    try:
        async with Proxy(path, folder, seed) as proxy, Api(proxy.kubeconfig) as api:
            yield proxy, api
    finally:
        await runner.cleanup()
