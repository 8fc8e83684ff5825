"""The connection to a client, broken as networks break them."""

from __future__ import annotations

import asyncio
import socket
import struct

from aiohttp import web

SECONDS_BETWEEN_LOOKS = 0.05


def reset(request: web.BaseRequest) -> None:
    """RST instead of FIN: the client sees an error, not an end."""
    if request.transport is None:
        return
    connected = request.transport.get_extra_info("socket")
    if connected is None:
        return  # it has gone by itself
    connected.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    request.transport.abort()


async def given_up(request: web.BaseRequest) -> None:
    """Returns when the client has gone."""
    while request.transport is not None and not request.transport.is_closing():
        await asyncio.sleep(SECONDS_BETWEEN_LOOKS)
