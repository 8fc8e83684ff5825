"""The proxy: TLS towards the client with its own certificate, the kubeconfig's user towards the server."""

from __future__ import annotations

import asyncio
import random
import ssl
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import aiohttp
from aiohttp import web

from testkit.api import client, credentials
from testkit.cluster import kubectl
from testkit.cluster.certificates import CertificateAuthority
from testkit.cluster.port import LOOPBACK, Port
from testkit.proxy import forward, record
from testkit.proxy.faults import Delay, Rule, WatchFault
from testkit.proxy.forward import Forward
from testkit.proxy.record import Sendings, Sent

LARGEST_EVENT = 2**23


class Proxy:
    """Works inside its `async with` block. `kubeconfig` is for the client whose requests get faults.

    It sends requests as the user of the kubeconfig that it is given, for example the operator, so that RBAC applies. A
    client that sends a token of its own keeps its identity.
    """

    def __init__(self, upstream: Path, folder: Path, seed: int = 0) -> None:
        self._who = credentials.read(upstream)
        self._draws, self._port = random.Random(seed), Port()
        self._ca = CertificateAuthority.new(folder / "proxy-certificates")
        self._certificate = self._ca.server("proxy", [f"IP:{LOOPBACK}", "DNS:localhost"])
        self.kubeconfig = self._write_kubeconfig(folder / "proxy-kubeconfig")
        self.rules: list[Rule] = []
        self.sendings = Sendings()
        self._lists: dict[str, bytes] = {}
        self._open: dict[int, web.BaseRequest] = {}
        self._under_way: set[asyncio.Task[Any]] = set()
        self._bugs: list[Exception] = []
        self._session: aiohttp.ClientSession | None = None
        self._forward: Forward | None = None
        self._runner: web.ServerRunner | None = None

    @property
    def url(self) -> str:
        return f"https://{LOOPBACK}:{self._port.number}"

    async def __aenter__(self) -> Self:
        connector = aiohttp.TCPConnector(ssl=self._who.trust, limit=0)
        self._session = aiohttp.ClientSession(
            self._who.server,
            connector=connector,
            headers=self._who.headers,
            read_bufsize=LARGEST_EVENT,
            timeout=aiohttp.ClientTimeout(total=None),
        )
        self._forward = Forward(self._session, self._draws, self._lists)
        await self.up()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.down()
        await self._forget()
        await client.close(self._session)
        self._port.close()
        if self._bugs:
            raise ExceptionGroup("the proxy itself failed", self._bugs)

    async def _forget(self) -> None:
        """Cancel delayed and hanging requests whose client has gone, as the server would drop them."""
        for task in self._under_way:
            task.cancel()
        await asyncio.gather(*self._under_way, return_exceptions=True)

    def add(self, *rules: Rule) -> None:
        """Add rules. The faults of all matching rules apply to a request, in this order."""
        self.rules += rules

    def clear(self) -> None:
        self.rules.clear()

    async def up(self) -> None:
        trust = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
        trust.load_cert_chain(self._certificate.certificate, self._certificate.key)
        self._runner = web.ServerRunner(web.Server(self._handle, access_log=None), shutdown_timeout=0.1)
        await self._runner.setup()
        await web.TCPSite(self._runner, LOOPBACK, self._port.number, ssl_context=trust, reuse_port=True).start()

    async def down(self) -> None:
        """Reset all connections and accept no new ones, like a server that is down."""
        self.cut()
        if self._runner is not None:
            await self._runner.cleanup()
            self._runner = None

    def cut(self) -> None:
        """Reset every connection with a request in flight, above all watches."""
        for request in list(self._open.values()):
            forward.reset(request)

    async def freeze(self) -> Mapping[str, bytes]:
        """The current replies to all lists that the client has requested, for `Stale`."""
        assert self._session is not None
        for target in list(self._lists):
            async with self._session.get(target) as response:
                self._lists[target] = await response.read()
        return dict(self._lists)

    async def _handle(self, request: web.BaseRequest) -> web.StreamResponse:
        assert self._forward is not None
        info = record.read(request.method, request.path, request.query)
        sent = Sent(info, request.method, request.path_qs, request.content_type, await request.read())
        self.sendings.all.append(sent)
        faults = [rule.fault for rule in self.rules if rule.befalls(info, self._draws)]
        sent.fault = ", ".join(map(str, faults))
        self._open[id(request)] = request
        task = asyncio.current_task()
        assert task is not None
        self._under_way.add(task)
        task.add_done_callback(self._under_way.discard)
        try:
            streams = info.verb == "watch" and all(isinstance(fault, WatchFault | Delay) for fault in faults)
            return await (self._forward.watch if streams else self._forward.plain)(request, sent, faults)
        except aiohttp.ClientError:
            # The server is down, so the proxy appears down too.
            forward.reset(request)
            return web.Response()
        except ConnectionError:
            # The client has disconnected.
            return web.Response()
        except Exception as bug:
            # The outermost handler: aiohttp would answer 500, and the test would take that for an injected fault.
            self._bugs.append(bug)
            raise
        finally:
            self._open.pop(id(request))

    def _write_kubeconfig(self, path: Path) -> Path:
        """Write a kubeconfig without a user, because the proxy adds its own."""
        name = kubectl.NAME
        cluster = {"server": self.url, "certificate-authority": str(self._ca.own.certificate)}
        config = {
            "apiVersion": "v1",
            "kind": "Config",
            "current-context": name,
            "clusters": [{"name": name, "cluster": cluster}],
            "contexts": [{"name": name, "context": {"cluster": name, "user": name, "namespace": "default"}}],
            "users": [{"name": name, "user": {}}],
        }
        return kubectl.write(path, config)
