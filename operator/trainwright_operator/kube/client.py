"""The client of the Kubernetes API: plain JSON, every request has a timeout, no request is retried.

The operator reads and writes through `Client.request`; only watches use separate streams.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Iterable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any, Self
from urllib.parse import urlencode

import aiohttp

from trainwright_operator.kube import errors, serializer
from trainwright_operator.kube.connection import Connection
from trainwright_operator.kube.errors import ApiError, Gone, Unreachable
from trainwright_operator.kube.resources import Resource, shown

__all__ = ["ApiError", "Client", "Gone", "Page", "Unreachable"]

Json = dict[str, Any]
OnResponse = Callable[[str, str, int, float], None]
"""Method (or WATCH), resource, status (0: unreachable), seconds."""

JSON = "application/json"
APPLY = "application/apply-patch+yaml"
MERGE = "application/merge-patch+json"
JSON_PATCH = "application/json-patch+json"
PAGE_LIMIT = 100
"""Objects per page. A parsed page of 100 RayJobs takes 9 MB of memory; pages of 500 would dominate the operator's
memory."""
RESTARTS = 3
"""The number of times that one list may restart because its continue token has expired."""


@dataclass(frozen=True)
class Page:
    """One page of a list."""

    items: list[Json]
    resource_version: str
    """Of the whole list."""
    first: bool
    """True for the first page of a list or of a restarted list. The pages before it are void."""


class Client:
    """Sends requests to one API server. At most `requests` of them run concurrently, beside any number of watches."""

    def __init__(
        self,
        connection: Connection,
        *,
        timeout: float = 30.0,
        requests: int = 64,
        on_response: OnResponse | None = None,
    ) -> None:
        self.connection = connection
        self._timeout = timeout
        self._free = asyncio.Semaphore(requests)
        self.on_response = on_response or (lambda *_: None)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def close(self) -> None:
        await self.connection.close()

    async def request(
        self,
        method: str,
        path: str,
        *,
        query: Mapping[str, str] | None = None,
        body: Any = None,
        content_type: str = JSON,
        timeout: float | None = None,
    ) -> Json:
        """Return the JSON of the response.

        Raises ApiError for an HTTP error, Unreachable if there is no response in time.
        """
        limit = aiohttp.ClientTimeout(total=timeout or self._timeout)
        if content_type == APPLY:
            # With the charset the REST client sends the body as text and does not serialise it again.
            body, content_type = serializer.dumps(body).encode(), f"{APPLY}; charset=utf-8"
        async with self._slot(method, path, timeout or self._timeout):
            started, status = time.monotonic(), 0
            try:
                async with self.connection.send(method, _url(path, query), body, content_type, limit) as response:
                    content = await response.read()
                    status = response.status
                    return _answer(response, content)
            finally:
                self.on_response(method, shown(path), status, time.monotonic() - started)

    @asynccontextmanager
    async def _slot(self, method: str, path: str, seconds: float) -> AsyncIterator[None]:
        """Wait for one of the concurrent requests to end. Raises Unreachable after `seconds`."""
        try:
            async with asyncio.timeout(seconds):
                await self._free.acquire()
        except TimeoutError:
            raise Unreachable(f"{method} {path}: the requests before it take too long") from None
        try:
            yield
        finally:
            self._free.release()

    async def get(self, resource: Resource, namespace: str | None, name: str) -> Json:
        return await self.request("GET", resource.path(namespace, name))

    async def find(self, resource: Resource, namespace: str | None, name: str) -> Json | None:
        """Return the object, None if there is none."""
        try:
            return await self.get(resource, namespace, name)
        except ApiError as error:
            if error.not_found:
                return None
            raise

    async def create(self, resource: Resource, namespace: str | None, body: Mapping[str, Any]) -> Json:
        return await self.request("POST", resource.path(namespace), body=body)

    async def replace(self, resource: Resource, namespace: str | None, name: str, body: Mapping[str, Any]) -> Json:
        """The API server answers with a conflict if `metadata.resourceVersion` in the body is not the newest."""
        return await self.request("PUT", resource.path(namespace, name), body=body)

    async def patch(self, resource: Resource, namespace: str | None, name: str, body: Mapping[str, Any]) -> Json:
        """Send a merge patch."""
        return await self.request("PATCH", resource.path(namespace, name), body=body, content_type=MERGE)

    async def apply(
        self,
        resource: Resource,
        namespace: str | None,
        name: str,
        body: Mapping[str, Any],
        *,
        field_manager: str,
        subresource: str | None = None,
        force: bool = True,
    ) -> Json:
        """Server-side apply. If the body has `metadata.resourceVersion`, it must be the newest."""
        whole = {"apiVersion": resource.api_version, "kind": resource.kind, **body}
        query = {"fieldManager": field_manager, "force": str(force).lower()}
        path = resource.path(namespace, name, subresource)
        return await self.request("PATCH", path, query=query, body=whole, content_type=APPLY)

    async def remove(
        self,
        resource: Resource,
        namespace: str | None,
        name: str,
        pointers: Iterable[str],
        *,
        resource_version: str,
        subresource: str | None = None,
    ) -> Json:
        """Remove fields by JSON pointer, regardless of their field owner.

        The API server answers with a conflict if `resource_version` is not the newest.
        """
        unchanged = {"op": "replace", "path": "/metadata/resourceVersion", "value": resource_version}
        body = [unchanged, *({"op": "remove", "path": pointer} for pointer in pointers)]
        path = resource.path(namespace, name, subresource)
        return await self.request("PATCH", path, body=body, content_type=JSON_PATCH)

    async def delete(
        self,
        resource: Resource,
        namespace: str | None,
        name: str,
        *,
        uid: str | None = None,
        propagation: str = "Background",
    ) -> Json:
        """Delete an object. With `uid`, an object of the same name but another uid is a conflict."""
        body: Json = {"kind": "DeleteOptions", "apiVersion": "v1", "propagationPolicy": propagation}
        if uid is not None:
            body["preconditions"] = {"uid": uid}
        return await self.request("DELETE", resource.path(namespace, name), body=body)

    async def list(
        self,
        resource: Resource,
        namespace: str | None = None,
        *,
        selector: str = "",
        field_selector: str = "",
        limit: int = PAGE_LIMIT,
    ) -> AsyncGenerator[Page, None]:
        """Yield all objects at one resourceVersion, page by page. See `Page.first`."""
        query = {"limit": str(limit), "labelSelector": selector, "fieldSelector": field_selector}
        token, restarts = "", 0
        while True:
            try:
                raw = await self.request("GET", resource.path(namespace), query={**query, "continue": token})
            except Gone:
                restarts += 1
                if not token or restarts > RESTARTS:
                    raise
                token = ""
                continue
            yield _page(raw, resource, first=not token)
            token = _metadata(raw).get("continue") or ""
            if not token:
                return

    async def watch(
        self,
        resource: Resource,
        namespace: str | None = None,
        *,
        resource_version: str,
        selector: str = "",
        timeout: float = 300.0,
    ) -> AsyncGenerator[Json, None]:
        """Yield the events since a resourceVersion, bookmarks included.

        The API server ends the stream after `timeout` seconds. Raises Gone if the resourceVersion has expired,
        Unreachable if the stream breaks or outlives `timeout` by the request timeout.
        """
        query = {"watch": "true", "allowWatchBookmarks": "true", "timeoutSeconds": f"{max(1, timeout):.0f}"}
        query |= {"labelSelector": selector, "resourceVersion": resource_version}
        path = _url(resource.path(namespace), query)
        # No shorter limit for silence: an unchanged custom resource does not even get bookmarks.
        limit = aiohttp.ClientTimeout(total=timeout + self._timeout, sock_connect=self._timeout)
        async with self.connection.send("GET", path, None, JSON, limit) as response:
            self.on_response("WATCH", resource.plural, response.status, 0.0)
            if response.status >= 400:
                _answer(response, await response.read())
            async for line in lines(response.content):
                yield _event(line)


def _url(path: str, query: Mapping[str, str] | None) -> str:
    """Return the path with its query string. Parameters without a value are omitted."""
    given = {name: value for name, value in (query or {}).items() if value}
    return f"{path}?{urlencode(given)}" if given else path


def _answer(response: aiohttp.ClientResponse, content: bytes) -> Json:
    if response.status >= 400:
        wait = response.headers.get("Retry-After")
        raise errors.of_answer(response.status, response.reason or "Unknown", content, wait)
    return _object(content or b"{}")


def _object(content: bytes) -> Json:
    try:
        value = serializer.loads(content)
    except ValueError as error:
        raise Unreachable(f"the answer is no JSON: {error}") from None
    if not isinstance(value, dict):
        raise Unreachable(f"the answer is no JSON object: {content[:80]!r}")
    return value


def _metadata(raw: Json) -> Json:
    metadata = raw.get("metadata")
    return metadata if isinstance(metadata, dict) else {}


def _page(raw: Json, resource: Resource, first: bool) -> Page:
    items = raw.get("items")
    version = _metadata(raw).get("resourceVersion")
    if not isinstance(items, list | None) or not isinstance(version, str) or not version.isdecimal():
        raise Unreachable(f"the answer is no list of {resource.plural}")
    objects = [item for item in items or () if isinstance(item, dict)]
    for item in objects:
        # The items in lists of built-in resources have no apiVersion and kind.
        item.setdefault("apiVersion", resource.api_version)
        item.setdefault("kind", resource.kind)
    return Page(objects, version, first)


def _event(line: bytes) -> Json:
    event = _object(line)
    status = event.get("object")
    if not isinstance(status, dict):
        raise Unreachable(f"the watch sent no event: {line[:80]!r}")
    if event.get("type") == "ERROR":
        raise errors.of_status(status)
    return event


async def lines(content: aiohttp.StreamReader) -> AsyncGenerator[bytes, None]:
    """Yield lines of any length; aiohttp's own reader rejects long ones. An incomplete last line is dropped."""
    parts: list[bytes] = []
    async for chunk in content.iter_any():
        *ended, rest = chunk.split(b"\n")
        for line in ended:
            whole = b"".join([*parts, line])
            parts.clear()
            if whole.strip():
                yield whole
        if rest:
            parts.append(rest)
