"""The stored data of our own control plane: every version of every object, as bytes in etcd."""

from __future__ import annotations

import base64
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import aiohttp

SOCKET = "etcd.sock"
ALL_KEYS = {name: base64.b64encode(b"\0").decode() for name in ("key", "range_end")}


@dataclass(frozen=True)
class Version:
    """`number` counts from 1, the version at creation."""

    key: str
    """For example /registry/secrets/default/keys."""
    number: int
    value: bytes


async def revision(folder: Path) -> int:
    """The current revision of the store."""
    async with (
        _session(folder) as session,
        session.post("/v3/kv/range", json={**ALL_KEYS, "count_only": True}) as answer,
    ):
        return int((await answer.json())["header"]["revision"])


async def versions(folder: Path, since: int) -> list[Version]:
    """All writes after the revision `since`, without deletions. It may not have been compacted."""
    end = await revision(folder)
    return [found async for found in _written(folder, since + 1, end)] if end > since else []


async def _written(folder: Path, start: int, end: int) -> AsyncIterator[Version]:
    wanted = {"create_request": {**ALL_KEYS, "start_revision": str(start)}}
    async with _session(folder) as session, session.post("/v3/watch", json=wanted) as answer:
        async for message in _lines(answer):
            result = message["result"]
            assert not result.get("canceled"), result
            for event in result.get("events", ()):
                if event.get("type") != "DELETE":
                    yield _version(event["kv"])
                if int(event["kv"]["mod_revision"]) >= end:
                    return


async def _lines(answer: aiohttp.ClientResponse) -> AsyncIterator[Any]:
    """One JSON text per line, of any length."""
    rest = b""
    async for chunk in answer.content.iter_any():
        *whole, rest = (rest + chunk).split(b"\n")
        for line in whole:
            yield json.loads(line)


def _version(kv: Any) -> Version:
    value = base64.b64decode(kv.get("value", ""))
    return Version(base64.b64decode(kv["key"]).decode(), int(kv["version"]), value)


@asynccontextmanager
async def _session(folder: Path) -> AsyncIterator[aiohttp.ClientSession]:
    connector = aiohttp.UnixConnector(str(folder / SOCKET))
    async with aiohttp.ClientSession("http://localhost", connector=connector) as session:
        yield session
