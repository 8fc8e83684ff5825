"""Breaks the connection to a client, as networks do."""

from __future__ import annotations

import asyncio
import socket
import struct

from aiohttp import web

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
