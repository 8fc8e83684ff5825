"""Forwards requests and streams, and breaks the connection to a client, as networks do."""

from __future__ import annotations

import asyncio
import json
import random
import socket
import struct
from collections.abc import MutableMapping, Sequence
from dataclasses import dataclass

import aiohttp
from aiohttp import web

from testkit.api import client
from testkit.proxy.faults import REASONS, Answer, Delay, Fault, Hang, Reset, Stale, Truncate, WatchFault
from testkit.proxy.record import Sent
from testkit.proxy.stream import BROKEN, Lines, disturb

KEPT_HEADERS = ("Accept", "Content-Type", "User-Agent", "Authorization")


@dataclass
class Answered:
    code: int
    content_type: str
    body: bytes


class Forward:
    def __init__(
        self, upstream: aiohttp.ClientSession, draws: random.Random, lists: MutableMapping[str, bytes]
    ) -> None:
        self._upstream, self._draws, self._lists = upstream, draws, lists

    async def plain(self, request: web.BaseRequest, sent: Sent, faults: Sequence[Fault]) -> web.StreamResponse:
        """Apply the delays first; then one other fault, the first."""
        await _delay(faults)
        ending = next((fault for fault in faults if not isinstance(fault, Delay | WatchFault)), None)
        if isinstance(ending, Stale):
            ending = None if sent.target not in ending.frozen else ending
        if ending is None:
            return _response(await self._ask(request, sent), sent)
        if isinstance(ending, Stale):
            return _response(Answered(200, "application/json", ending.frozen[sent.target]), sent)
        answered = await self._ask(request, sent) if ending.after or isinstance(ending, Truncate) else None
        return await _befallen(request, sent, ending, answered)

    async def watch(self, request: web.BaseRequest, sent: Sent, faults: Sequence[Fault]) -> web.StreamResponse:
        await _delay(faults)
        async with self._sent(request, sent) as upstream:
            sent.took_effect = True
            if upstream.status != 200:
                return _response(Answered(upstream.status, upstream.content_type, await upstream.read()), sent)
            sent.code = 200
            response = web.StreamResponse(headers={"Content-Type": "application/json"})
            await response.prepare(request)
            disturbing = [fault for fault in faults if isinstance(fault, WatchFault)]
            try:
                await self._stream(request, response, upstream, disturbing)
            finally:
                client.abort(upstream)
            return response

    async def _stream(
        self,
        request: web.BaseRequest,
        response: web.StreamResponse,
        upstream: aiohttp.ClientResponse,
        faults: Sequence[WatchFault],
    ) -> None:
        """Ends when the server ends it, at a fault, or when the client disconnects."""
        lines: Lines = asyncio.Queue()
        tasks = [asyncio.create_task(_read(upstream, lines)), asyncio.create_task(given_up(request))]
        gone = tasks[1]
        for fault in faults:
            source, lines = lines, asyncio.Queue()
            tasks.append(asyncio.create_task(disturb(source, fault, self._draws, lines)))
        tasks.append(asyncio.create_task(_write(lines, request, response)))
        await asyncio.wait([gone, tasks[-1]], return_when=asyncio.FIRST_COMPLETED)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def _ask(self, request: web.BaseRequest, sent: Sent) -> Answered:
        async with self._sent(request, sent) as upstream:
            answered = Answered(upstream.status, upstream.content_type, await upstream.read())
        sent.took_effect = True
        if sent.info.verb == "list" and answered.code == 200:
            self._lists[sent.target] = answered.body
        return answered

    def _sent(self, request: web.BaseRequest, sent: Sent) -> aiohttp.client._RequestContextManager:
        headers = {name: request.headers[name] for name in KEPT_HEADERS if name in request.headers}
        headers["Accept-Encoding"] = "identity"
        return self._upstream.request(sent.method, sent.target, data=sent.body or None, headers=headers)


async def _delay(faults: Sequence[Fault]) -> None:
    for fault in faults:
        if isinstance(fault, Delay):
            await asyncio.sleep(fault.seconds)


async def _befallen(
    request: web.BaseRequest, sent: Sent, fault: Fault, answered: Answered | None
) -> web.StreamResponse:
    match fault:
        case Answer():
            return _response(_refusal(fault), sent, fault.retry_after)
        case Reset():
            reset(request)
        case Hang():
            await given_up(request)
        case Truncate() if answered is not None:
            response = web.StreamResponse(status=answered.code, headers={"Content-Type": answered.content_type})
            response.content_length = len(answered.body)
            await response.prepare(request)
            await response.write(answered.body[: len(answered.body) // 2])
            reset(request)
            return response
    # aiohttp requires a response even for a closed connection.
    return web.Response()


def _refusal(fault: Answer) -> Answered:
    status = {
        "kind": "Status",
        "apiVersion": "v1",
        "metadata": {},
        "status": "Failure",
        "message": "as the test says",
        "reason": fault.reason or REASONS.get(fault.code, ""),
        "code": fault.code,
    }
    return Answered(fault.code, "application/json", json.dumps(status).encode())


def _response(answered: Answered, sent: Sent, retry_after: int | None = None) -> web.Response:
    sent.code = answered.code
    headers = {} if retry_after is None else {"Retry-After": str(retry_after)}
    return web.Response(status=answered.code, body=answered.body, content_type=answered.content_type, headers=headers)


async def _read(upstream: aiohttp.ClientResponse, lines: Lines) -> None:
    try:
        async for line in upstream.content:
            await lines.put(line)
    except aiohttp.ClientError:
        await lines.put(BROKEN)
    await lines.put(None)


async def _write(lines: Lines, request: web.BaseRequest, response: web.StreamResponse) -> None:
    while (line := await lines.get()) is not None:
        if line == BROKEN:
            reset(request)
            return
        await response.write(line)


SECONDS_BETWEEN_LOOKS = 0.05


def reset(request: web.BaseRequest) -> None:
    """Send RST instead of FIN: the client sees an error, not an end of stream."""
    if request.transport is None:
        return
    connected = request.transport.get_extra_info("socket")
    if connected is None:
        return  # the client has closed it
    connected.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    request.transport.abort()


async def given_up(request: web.BaseRequest) -> None:
    """Return when the client has disconnected."""
    while request.transport is not None and not request.transport.is_closing():
        await asyncio.sleep(SECONDS_BETWEEN_LOOKS)
