"""kopf's way to the API server: what it reads passes here first.

* What Python's JSON parser cannot take does not reach kopf, for one such object would end it.
* The names in its lists of TrainingJobs are told to `Jobs`, and that the API server has answered at all.
* A watch ends once the next list is due, as if the API server had said that its resourceVersion is too old.
"""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import AsyncIterator, Mapping
from contextlib import aclosing
from types import SimpleNamespace
from typing import Any, cast

import aiohttp

from trainwright_operator import shallow
from trainwright_operator.client import Client, lines
from trainwright_operator.pauses import Pauses
from trainwright_operator.reading import mapping, mappings
from trainwright_operator.resources import TRAINING_JOBS, shown
from trainwright_operator.settings import Settings
from trainwright_operator.world.jobs import Jobs, Place
from trainwright_operator.world.store import key_of

log = logging.getLogger(__name__)

EXPIRED = {"kind": "Status", "code": 410, "reason": "Expired", "message": "the next list is due"}
LIST_AGAIN = json.dumps({"type": "ERROR", "object": EXPIRED}).encode() + b"\n"
NOWHERE = "-"
"""No namespace is called so."""
SHORT_SECONDS = 1.0
"""A watch that brought nothing and ended so soon was none: kopf opens the next one without a pause."""


def session(client: Client, jobs: Jobs, settings: Settings) -> aiohttp.ClientSession:
    """A session with the credentials of the operator's own client."""
    places = {TRAINING_JOBS.path(place): place for place in jobs.places}
    ends = Pauses(settings.retry_base, settings.retry_limit)

    class Response(aiohttp.ClientResponse):
        value: Any = None

        async def start(self, connection: Any) -> aiohttp.ClientResponse:
            await super().start(connection)
            place = places.get(self.url.path, NOWHERE)
            if self.status != 200:
                return self
            if place != NOWHERE and "watch" in self.url.query:
                self.content = cast(aiohttp.StreamReader, Events(self.content, jobs, place, ends))
                return self
            self.value = await _value(self)
            if place != NOWHERE:
                _tell(jobs, place, self.value, first="continue" not in self.url.query)
            return self

        async def json(self, **more: Any) -> Any:
            return await super().json(**more) if self.value is None else self.value

    return client.connection.session(Response, _trace(client, jobs, places))


class Events:
    """The events of a watch, in the place of the response's content."""

    def __init__(self, content: aiohttp.StreamReader, jobs: Jobs, place: Place, ends: Pauses) -> None:
        self._content, self._jobs, self._place, self._ends = content, jobs, place, ends

    def __getattr__(self, name: str) -> Any:
        """For aiohttp, which ends and closes it."""
        return getattr(self._content, name)

    async def iter_chunked(self, _: int) -> AsyncIterator[bytes]:
        """Whole lines."""
        started, heard = _now(), False
        async with aclosing(lines(self._content)) as source:
            while True:
                try:
                    async with asyncio.timeout_at(self._jobs.list_due(self._place)):
                        line = await anext(source, None)
                except TimeoutError:
                    yield LIST_AGAIN
                    return
                if line is None:
                    break
                heard = True
                self._jobs.seen(self._place)
                yield _readable(line)
        if not heard and _now() - started < SHORT_SECONDS:
            await asyncio.sleep(self._ends.next())
        else:
            self._ends.reset()


def _readable(line: bytes) -> bytes:
    """The line, so that kopf can parse it."""
    if line.count(b"{") + line.count(b"[") > shallow.LEVELS:
        line = shallow.cut(line)
    try:
        json.loads(line)
    except ValueError as error:
        log.warning("an event of trainingjobs is no JSON (%s): all are listed again", error)
        return LIST_AGAIN
    return line + b"\n"


async def _value(response: aiohttp.ClientResponse) -> Any:
    """kopf asks again where the connection breaks before the answer; so it does where it breaks in the answer."""
    try:
        return shallow.loads(await response.read())
    except (aiohttp.ClientPayloadError, ValueError) as error:
        raise aiohttp.ClientConnectionError(f"the answer cannot be read: {error}") from None


def _tell(jobs: Jobs, place: Place, value: Any, *, first: bool) -> None:
    metadata = mapping(value, "metadata")
    version = str(metadata.get("resourceVersion") or "")
    if not version.isdecimal():
        raise aiohttp.ClientConnectionError("the answer is no list of trainingjobs")
    names = map(key_of, mappings(value.get("items")))
    jobs.listed(place, names, int(version), first=first, last=not metadata.get("continue"))


def _trace(client: Client, jobs: Jobs, places: Mapping[str, Place]) -> aiohttp.TraceConfig:
    """Counts kopf's requests, and logs those that fail: kopf's own lines look like bugs."""

    async def asked(_: aiohttp.ClientSession, __: SimpleNamespace, told: aiohttp.TraceRequestStartParams) -> None:
        if told.url.path in places:
            jobs.asked()

    async def answered(_: aiohttp.ClientSession, __: SimpleNamespace, told: aiohttp.TraceRequestEndParams) -> None:
        path = told.url.path
        for place in [places[path]] if path in places else jobs.places:
            jobs.seen(place)
        ended(told.method, told.url.query, path, told.response.status)
        if told.response.status >= 400:
            log.warning("%s %s: %d %s", told.method, path, told.response.status, told.response.reason)

    async def failed(_: aiohttp.ClientSession, __: SimpleNamespace, told: aiohttp.TraceRequestExceptionParams) -> None:
        error = told.exception
        if isinstance(error, asyncio.CancelledError):
            return
        ended(told.method, told.url.query, told.url.path, 0)
        log.warning("%s %s: %s", told.method, told.url.path, f"{type(error).__name__} {error}".rstrip())

    def ended(method: str, query: Mapping[str, str], path: str, status: int) -> None:
        client.on_response("WATCH" if "watch" in query else method.upper(), shown(path), status, 0.0)

    trace = aiohttp.TraceConfig()
    trace.on_request_start.append(asked)
    trace.on_request_end.append(answered)
    trace.on_request_exception.append(failed)
    return trace


def _now() -> float:
    return asyncio.get_running_loop().time()
