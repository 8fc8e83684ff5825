"""kopf's HTTP session with the API server. Every response passes through this module before kopf reads it.

* JSON that Python's parser cannot read does not reach kopf, because one such object would end kopf.
* The operator gets the names in kopf's lists of TrainingJobs, and a signal for each response of the API server.
* A watch ends when the next list is due, as if the API server had reported that its resourceVersion is too old.
"""

from __future__ import annotations

import asyncio
import json
import logging
import random
from collections.abc import AsyncIterator
from contextlib import aclosing, asynccontextmanager
from typing import Any, cast

import aiohttp
from yarl import URL

from trainwright_operator.informer.store import key_of
from trainwright_operator.kopf_adapter.relay import Relay
from trainwright_operator.kopf_adapter.settings import Pauses
from trainwright_operator.kube import serializer
from trainwright_operator.kube.client import Client, lines
from trainwright_operator.kube.resources import TRAINING_JOBS, shown
from trainwright_operator.model.reading import mapping, mappings
from trainwright_operator.settings import Place, Settings

log = logging.getLogger(__name__)

EXPIRED = {"kind": "Status", "code": 410, "reason": "Expired", "message": "the next list is due"}
LIST_AGAIN = json.dumps({"type": "ERROR", "object": EXPIRED}).encode() + b"\n"
NOWHERE = "-"
"""The place of all other paths. No namespace has this name."""
SHORT_SECONDS = 1.0
"""A watch that ends this soon without an event counts as failed: it gets a pause, because kopf makes none."""


@asynccontextmanager
async def session(client: Client, relay: Relay, settings: Settings) -> AsyncIterator[WatchSession]:
    """Yield a session with the credentials of the operator's own client."""
    watching = WatchSession(client, relay, settings)
    async with client.connection.session(watching.response_class, watching.trace) as made:
        watching.session = made
        yield watching


class WatchSession:
    """The requests and responses that one session of kopf has seen."""

    session: aiohttp.ClientSession

    def __init__(self, client: Client, relay: Relay, settings: Settings) -> None:
        self._client, self._relay, self._settings = client, relay, settings
        self._places = {TRAINING_JOBS.path(place): place for place in relay.places}
        self.asked = False
        """True once kopf has started a request for TrainingJobs."""
        self.list_due: dict[Place, float] = {}
        """The times of the next lists, by the event loop's clock."""
        self.short_ends = Pauses(settings.retry_base, settings.retry_limit)

    def place(self, path: str) -> Place:
        return self._places.get(path, NOWHERE)

    def seen(self, place: Place) -> None:
        self._relay.seen(place)

    @property
    def response_class(self) -> type[aiohttp.ClientResponse]:
        watching = self

        class Response(aiohttp.ClientResponse):
            value: Any = None

            async def start(self, connection: Any) -> aiohttp.ClientResponse:
                await super().start(connection)
                place = watching.place(self.url.path)
                if self.status != 200:
                    return self
                if place != NOWHERE and "watch" in self.url.query:
                    self.content = cast(aiohttp.StreamReader, Events(self.content, watching, place))
                    return self
                self.value = await _value(self)
                if place != NOWHERE:
                    await watching.page(place, self.value, first="continue" not in self.url.query)
                return self

            async def json(self, **more: Any) -> Any:
                return await super().json(**more) if self.value is None else self.value

        return Response

    async def page(self, place: Place, value: Any, *, first: bool) -> None:
        metadata = mapping(value, "metadata")
        version, last = str(metadata.get("resourceVersion") or ""), not metadata.get("continue")
        if not version.isdecimal():
            raise aiohttp.ClientConnectionError("the answer is no list of trainingjobs")
        names = [key_of(raw) for raw in mappings(value.get("items"))]
        await self._relay.listed(place, names, int(version), first=first, last=last)
        if last:
            # A periodic list also repairs the silent loss of an event.
            self.list_due[place] = _now() + self._settings.resync * random.uniform(0.9, 1.1)

    @property
    def trace(self) -> aiohttp.TraceConfig:
        """Count kopf's requests, and log the failed ones. kopf's own log lines for them look like bugs."""
        trace = aiohttp.TraceConfig()
        trace.on_request_start.append(self._asks)
        trace.on_request_end.append(self._answered)
        trace.on_request_exception.append(self._failed)
        return trace

    async def _asks(self, _: Any, __: Any, params: aiohttp.TraceRequestStartParams) -> None:
        self.asked = self.asked or params.url.path in self._places

    async def _answered(self, _: Any, __: Any, params: aiohttp.TraceRequestEndParams) -> None:
        path, response = params.url.path, params.response
        for place in [self._places[path]] if path in self._places else self._relay.places:
            self.seen(place)
        self._count(params.method, params.url, response.status)
        if response.status >= 400:
            log.warning("%s %s: %d %s", params.method, path, response.status, response.reason)

    async def _failed(self, _: Any, __: Any, params: aiohttp.TraceRequestExceptionParams) -> None:
        error = params.exception
        if isinstance(error, asyncio.CancelledError):
            return
        self._count(params.method, params.url, 0)
        log.warning("%s %s: %s", params.method, params.url.path, f"{type(error).__name__} {error}".rstrip())

    def _count(self, method: str, url: URL, status: int) -> None:
        word = "WATCH" if "watch" in url.query else method.upper()
        self._client.on_response(word, shown(url.path), status, 0.0)


class Events:
    """The events of a watch. Replaces the `content` of the response."""

    def __init__(self, content: aiohttp.StreamReader, watching: WatchSession, place: Place) -> None:
        self._content, self._watching, self._place = content, watching, place

    def __getattr__(self, name: str) -> Any:
        """Delegate to the stream, for aiohttp, which ends and closes it."""
        return getattr(self._content, name)

    async def iter_chunked(self, _: int) -> AsyncIterator[bytes]:
        """Yield whole lines. A broken connection is a normal end: kopf continues from the last event."""
        started, brought = _now(), False
        async with aclosing(lines(self._content)) as source:
            while True:
                try:
                    async with asyncio.timeout_at(self._watching.list_due.get(self._place)):
                        line = await anext(source, None)
                except TimeoutError:
                    yield LIST_AGAIN
                    return
                except aiohttp.ClientError:
                    break
                if line is None:
                    break
                brought = True
                self._watching.seen(self._place)
                yield _readable(line)
        await self._pause(brought or _now() - started >= SHORT_SECONDS)

    async def _pause(self, was_one: bool) -> None:
        if was_one:
            self._watching.short_ends.reset()
        else:
            await asyncio.sleep(self._watching.short_ends.next())


def _readable(line: bytes) -> bytes:
    """Return the line in a form that kopf can parse."""
    if line.count(b"{") + line.count(b"[") > serializer.MAX_LEVELS:
        line = serializer.cut(line)
    try:
        json.loads(line)
    except ValueError as error:
        log.warning("an event of trainingjobs is no JSON (%s): all are listed again", error)
        return LIST_AGAIN
    return line + b"\n"


async def _value(response: aiohttp.ClientResponse) -> Any:
    """Parse the body. Raises ClientConnectionError, which kopf retries, if the connection breaks within the body."""
    try:
        return serializer.loads(await response.read())
    except (aiohttp.ClientPayloadError, ValueError) as error:
        raise aiohttp.ClientConnectionError(f"the answer cannot be read: {error}") from None


def _now() -> float:
    return asyncio.get_running_loop().time()
