"""The connection to the API server: address, credentials and single requests without retries.

`kubernetes.aio` reads kubeconfigs, refreshes tokens and opens the session. Its generated models are not used, because
they cost more than the requests. The HTTP proxies of the environment are not used: a pod's proxy leads to the internet
and not to its own API server, and a kubeconfig can name a proxy.
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
"""The exceptions that aiohttp raises for a connection that cannot be opened, breaks or hangs."""
JSON = "application/json"
KEEPALIVE = {"TCP_KEEPIDLE": 30, "TCP_KEEPINTVL": 10, "TCP_KEEPCNT": 3}
"""A connection to a peer that is gone breaks after one minute."""


class Connection:
    """A session with one API server."""

    def __init__(self, configuration: Configuration) -> None:
        configuration.client_session_kwargs = {"trust_env": False}
        # Python 3.13 verifies certificates more strictly than other Kubernetes clients do: CAs in use fail its check.
        configuration.disable_strict_ssl_verification = True
        self._configuration = configuration
        self._rest = _Once(configuration)
        self._refreshing: asyncio.Task[None] | None = None

    @classmethod
    async def open(cls, kubeconfig: str | None = None) -> Connection:
        """Open a connection: by `kubeconfig` or $KUBECONFIG, else as a pod in the cluster, else by ~/.kube/config."""
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
        """The address of the API server and the client's credentials."""
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
        """Yield the response, for any HTTP status, before its body is read.

        Raises Unreachable, also if the connection breaks while the caller reads the body.
        """
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
        """Return a new session for kopf's client. The caller closes it."""

        async def authorized(request: aiohttp.ClientRequest, send: aiohttp.ClientHandlerType) -> aiohttp.ClientResponse:
            request.headers.update(await self._headers(JSON))
            return await send(request)

        return self._rest.session(response_class=response, trace_configs=[trace], middlewares=(authorized,))

    async def _headers(self, content_type: str) -> dict[str, str]:
        # Inside a cluster the network is faster than compression; Kubernetes' own controllers do not compress either.
        headers = {"Accept": JSON, "Accept-Encoding": "identity", "Content-Type": content_type}
        token = await self._configuration.get_api_key_with_prefix("BearerToken", alias="authorization")
        return {**headers, "Authorization": token.strip()} if token else headers


def keepalive_socket(address: aiohttp.AddrInfoType) -> socket.socket:
    """Return a socket with TCP keepalive: a healthy watch can be silent for minutes, so the kernel probes the peer."""
    made = socket.socket(*address[:3])
    made.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
    for name, value in KEEPALIVE.items():
        if hasattr(socket, name):  # macOS lacks one of them
            made.setsockopt(socket.IPPROTO_TCP, getattr(socket, name), value)
    return made


class _Once(RESTClientObject):
    def _create_connector(self) -> aiohttp.TCPConnector:
        # `Client` limits its concurrent requests itself; a limit here would also count the watches, which stay open.
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
    """Turn off aiohttp's retries of GET, PUT and DELETE on a broken connection. aiohttp has no public setting."""
    session._retry_connection = False
