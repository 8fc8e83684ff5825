"""Closes connections. aiohttp does not wait for TLS connections to close, and a loop that ends then complains."""

from __future__ import annotations

import asyncio

import aiohttp

SECONDS_TO_CLOSE = 0.05


def abort(response: aiohttp.ClientResponse) -> None:
    """Abort the connection at once: nothing waits for the TLS shutdown of a watch that is left."""
    if response.connection is not None and response.connection.transport is not None:
        response.connection.transport.abort()


async def close(session: aiohttp.ClientSession | None) -> None:
    if session is not None:
        await session.close()
        await asyncio.sleep(SECONDS_TO_CLOSE)
