"""The way to the API server: where it is, who we are, and one request at a time. No retries.

`kubernetes.aio` reads kubeconfigs, keeps tokens fresh and opens the session; its generated models are left aside,
because they cost more than the requests. The environment's HTTP proxies are not used: what a pod reaches the world by
is no way to its own API server, and a kubeconfig can name one.
"""

from __future__ import annotations

import asyncio
import os
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from typing import Any

import aiohttp
from kubernetes.aio.client import Configuration
from kubernetes.aio.client.rest import RESTClientObject
from kubernetes.aio.config import load_incluster_config, load_kube_config, refresh_token

from trainwright_operator.kube.errors import Unreachable

LOST = (aiohttp.ClientError, TimeoutError, OSError)
"""What aiohttp raises for a connection that cannot be made, breaks or hangs."""
JSON = "application/json"
KEEPALIVE = {"TCP_KEEPIDLE": 30, "TCP_KEEPINTVL": 10, "TCP_KEEPCNT": 3}
"""A connection whose other side is gone breaks after a minute."""


class Connection:
    """A session with one API server."""

    def __init__(self, configuration: Configuration) -> None:
        configuration.client_session_kwargs = {"trust_env": False}
        # Python 3.13 asks more of certificates than other clients of Kubernetes do: living authorities lack it.
        configuration.disable_strict_ssl_verification = True
        self._configuration = configuration
        self._rest = _Once(configuration)
        self._refreshing: asyncio.Task[None] | None = None

    @classmethod
    async def open(cls, kubeconfig: str | None = None) -> Connection:
        """By a kubeconfig (that given, else $KUBECONFIG), else as a pod, else by ~/.kube/config."""
        configuration = Configuration()
        file = kubeconfig or os.environ.get("KUBECONFIG")
        if file is None and "KUBERNETES_SERVICE_HOST" in os.environ:
            load_incluster_config(configuration)  # type: ignore[no-untyped-call]
            return cls(configuration)
        file = file or os.path.expanduser("~/.kube/config")
        loader = await load_kube_config(file, client_configuration=configuration, persist_config=False)  # type: ignore[no-untyped-call]
        connection = cls(configuration)
        connection._refreshing = asyncio.create_task(refresh_token(loader, configuration))  # type: ignore[no-untyped-call]
        return connection

    @property
    def configuration(self) -> Configuration:
        """Where the API server is, and who we are."""
        return self._configuration

    async def close(self) -> None:
        if self._refreshing is not None:
            self._refreshing.cancel()
            with suppress(asyncio.CancelledError):
                await self._refreshing
        await self._rest.close()

    @asynccontextmanager
    async def send(
        self, method: str, path: str, body: Any, content_type: str, timeout: aiohttp.ClientTimeout
    ) -> AsyncIterator[aiohttp.ClientResponse]:
        """The answer, whatever its status, its body not yet read. Raises Unreachable, also while it is read."""
        try:
            headers = await self._headers(content_type)
            url = self._configuration.host + path
            answer = await self._rest.request(method, url, headers, body, _request_timeout=timeout)  # type: ignore[no-untyped-call]
            response: aiohttp.ClientResponse = answer.response
            async with response:
                yield response
        except LOST as error:
            raise Unreachable(f"{method} {path}: {type(error).__name__} {error}".rstrip()) from None

    def session(self, response: type[aiohttp.ClientResponse], trace: aiohttp.TraceConfig) -> aiohttp.ClientSession:
        """Another session, for kopf's client. Whoever asks for it closes it."""

        async def authorized(request: aiohttp.ClientRequest, send: aiohttp.ClientHandlerType) -> aiohttp.ClientResponse:
            request.headers.update(await self._headers(JSON))
            return await send(request)

        return self._rest.session(response_class=response, trace_configs=[trace], middlewares=(authorized,))

    async def _headers(self, content_type: str) -> dict[str, str]:
        # Inside a cluster the network is faster than compression, as for Kubernetes' own controllers.
        headers = {"Accept": JSON, "Accept-Encoding": "identity", "Content-Type": content_type}
        token = await self._configuration.get_api_key_with_prefix("BearerToken", alias="authorization")
        return {**headers, "Authorization": token.strip()} if token else headers


def keepalive_socket(address: aiohttp.AddrInfoType) -> socket.socket:
    """The kernel asks whether the other side still lives: a watch may rightly be silent for minutes."""
    made = socket.socket(*address[:3])
    made.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
    for name, value in KEEPALIVE.items():
        if hasattr(socket, name):  # macOS lacks one of them
            made.setsockopt(socket.IPPROTO_TCP, getattr(socket, name), value)
    return made


class _Once(RESTClientObject):
    def _create_connector(self) -> aiohttp.TCPConnector:
        # The client counts its requests itself: a limit here would also count the watches, which stay open.
        return aiohttp.TCPConnector(limit=0, ssl=self.ssl_context, socket_factory=keepalive_socket)

    def _create_pool_manager(self) -> aiohttp.ClientSession:
        session = super()._create_pool_manager()
        _retries_nothing(session)
        return session

    def session(self, **more: Any) -> aiohttp.ClientSession:
        made = aiohttp.ClientSession(connector=self._create_connector(), proxy=self.proxy, trust_env=False, **more)
        _retries_nothing(made)
        return made


def _retries_nothing(session: aiohttp.ClientSession) -> None:
    """aiohttp sends a GET, PUT or DELETE again by itself when its connection breaks, and has no setting for it."""
    session._retry_connection = False
