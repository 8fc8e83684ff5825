"""The tests' client of the API server, and how it closes connections."""

from __future__ import annotations

import asyncio
import io
import json
import secrets
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import aiohttp

from testkit.api import credentials
from testkit.api.errors import ApiError
from testkit.api.resource import NAMESPACES, Manifest, Resource
from trainwright_operator.kube import serializer

MERGE = "application/merge-patch+json"
APPLY = "application/apply-patch+yaml"
LARGEST_EVENT = 2**23
LARGE_BODY = 2**20


@dataclass(frozen=True)
class Listing:
    items: list[Manifest]
    resource_version: str


@dataclass(frozen=True)
class Change:
    """One event of a watch: ADDED, MODIFIED, DELETED, BOOKMARK or ERROR."""

    type: str
    object: Manifest


class Api:
    """Works inside its `async with` block."""

    def __init__(self, kubeconfig: Path, requests_at_once: int = 100) -> None:
        self._who = credentials.read(kubeconfig)
        self._requests_at_once = requests_at_once
        self._session: aiohttp.ClientSession | None = None

    async def __aenter__(self) -> Self:
        connector = aiohttp.TCPConnector(ssl=self._who.trust, limit=self._requests_at_once)
        self._session = aiohttp.ClientSession(
            self._who.server, connector=connector, headers=self._who.headers, read_bufsize=LARGEST_EVENT
        )
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await close(self._session)

    @property
    def session(self) -> aiohttp.ClientSession:
        if self._session is None:
            raise RuntimeError("an Api works inside its `async with` block")
        return self._session

    async def request(
        self, method: str, path: str, body: Any = None, *, seconds: float = 30.0, content_type: str = "", **query: str
    ) -> Manifest:
        headers = {"Content-Type": content_type or "application/json"}
        text = serializer.dumps(body) if content_type == APPLY else json.dumps(body)
        data = None if body is None else _sent(text.encode())
        limit = aiohttp.ClientTimeout(total=seconds)
        async with self.session.request(
            method, path, data=data, params=query, headers=headers, timeout=limit
        ) as response:
            answer = await response.read()
        if response.status >= 400:
            raise ApiError.from_body(response.status, answer)
        found: Manifest = json.loads(answer)
        return found

    async def get(self, resource: Resource, name: str, namespace: str | None = None) -> Manifest:
        return await self.request("GET", resource.path(namespace, name))

    async def find(self, resource: Resource, name: str, namespace: str | None = None) -> Manifest | None:
        """The object, or None if it does not exist."""
        try:
            return await self.get(resource, name, namespace)
        except ApiError as error:
            if error.code == 404:
                return None
            raise

    async def list(self, resource: Resource, namespace: str | None = None, labels: str = "") -> Listing:
        found = await self.request("GET", resource.path(namespace), labelSelector=labels)
        # The items of a list lack apiVersion and kind.
        named = {"apiVersion": resource.api_version, "kind": resource.kind}
        return Listing([{**named, **item} for item in found["items"]], found["metadata"]["resourceVersion"])

    async def create(self, resource: Resource, made: Manifest, namespace: str | None = None) -> Manifest:
        named = {"apiVersion": resource.api_version, "kind": resource.kind}
        return await self.request("POST", resource.path(namespace), {**named, **made})

    async def delete(
        self,
        resource: Resource,
        name: str,
        namespace: str | None = None,
        *,
        policy: str = "Background",
        grace: int | None = None,
        uid: str = "",
    ) -> None:
        """Delete the object; a missing object is no error. With `uid`, only the object that has it."""
        options: Manifest = {"propagationPolicy": policy}
        options |= {} if grace is None else {"gracePeriodSeconds": grace}
        options |= {"preconditions": {"uid": uid}} if uid else {}
        try:
            await self.request("DELETE", resource.path(namespace, name), options)
        except ApiError as error:
            if error.code != 404:
                raise

    async def patch(
        self, resource: Resource, name: str, namespace: str | None, changes: Any, subresource: str = ""
    ) -> Manifest:
        """Send a merge patch."""
        path = resource.path(namespace, name, subresource)
        return await self.request("PATCH", path, changes, content_type=MERGE)

    async def patch_status(self, resource: Resource, name: str, namespace: str | None, status: Any) -> Manifest:
        return await self.patch(resource, name, namespace, {"status": status}, "status")

    async def apply(
        self, resource: Resource, made: Manifest, manager: str, namespace: str | None = None, subresource: str = ""
    ) -> Manifest:
        """Server-side apply with force: it takes over fields that other managers own."""
        named = {"apiVersion": resource.api_version, "kind": resource.kind, **made}
        path = resource.path(namespace, made["metadata"]["name"], subresource)
        return await self.request("PATCH", path, named, content_type=APPLY, fieldManager=manager, force="true")

    async def watch(
        self, resource: Resource, namespace: str | None, resource_version: str, seconds: int = 300
    ) -> AsyncIterator[Change]:
        """Yield events until the server closes the watch. Raises ApiError for an ERROR event."""
        query = {"watch": "1", "resourceVersion": resource_version, "timeoutSeconds": str(seconds)}
        limit = aiohttp.ClientTimeout(total=None, sock_connect=10, sock_read=seconds + 10)
        async with self.session.get(resource.path(namespace), params=query, timeout=limit) as response:
            if response.status >= 400:
                raise ApiError.from_body(response.status, await response.read())
            try:
                async for line in response.content:
                    yield _change(json.loads(line))
            finally:
                abort(response)

    async def make_namespace(self, prefix: str = "test", labels: Mapping[str, str] | None = None) -> str:
        name = f"{prefix}-{secrets.token_hex(4)}"
        await self.create(NAMESPACES, {"metadata": {"name": name, "labels": dict(labels or {})}})
        return name


def _sent(body: bytes) -> bytes | io.BytesIO:
    """aiohttp takes a large body only as a stream, and reads it only once."""
    return body if len(body) < LARGE_BODY else io.BytesIO(body)


def _change(event: Mapping[str, Any]) -> Change:
    if event["type"] == "ERROR":
        status: Mapping[str, Any] = event["object"]
        raise ApiError(status.get("code", 0), status.get("reason", ""), status.get("message", ""))
    return Change(event["type"], event["object"])


SECONDS_TO_CLOSE = 0.05


def abort(response: aiohttp.ClientResponse) -> None:
    """Abort the connection at once: nothing waits for the TLS shutdown of a watch that is left."""
    if response.connection is not None and response.connection.transport is not None:
        response.connection.transport.abort()


async def close(session: aiohttp.ClientSession | None) -> None:
    if session is not None:
        await session.close()
        await asyncio.sleep(SECONDS_TO_CLOSE)
