"""Polls with short intervals and a deadline; the error message shows the last state."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable
from typing import TypeVar

import aiohttp

from testkit.api.client import Api
from testkit.api.errors import ApiError, NotReached
from testkit.api.resource import Manifest, Resource

T = TypeVar("T")
SECONDS_BETWEEN_LOOKS = 0.05
CHARACTERS_SHOWN = 6000


async def until(
    look: Callable[[], Awaitable[T]], holds: Callable[[T], object], *, seconds: float = 60.0, what: str = "it"
) -> T:
    """Poll until `holds` is true, and return what it saw. Tolerates an API server that is down for a while."""
    loop = asyncio.get_running_loop()
    end = loop.time() + seconds
    last: object = "nothing"
    while True:
        try:
            seen = await look()
        except (aiohttp.ClientError, ApiError, TimeoutError, ConnectionError) as error:
            last = error
        else:
            if holds(seen):
                return seen
            last = seen
        if loop.time() > end:
            raise NotReached(f"{what} did not come within {seconds:g} s; last seen:\n{shown(last)}")
        await asyncio.sleep(SECONDS_BETWEEN_LOOKS)


async def until_object(
    api: Api,
    resource: Resource,
    name: str,
    namespace: str | None,
    holds: Callable[[Manifest], object] = bool,
    *,
    seconds: float = 60.0,
    what: str = "",
) -> Manifest:
    """Wait until the object exists and `holds` is true of it."""
    expected = what or f"{resource.kind} {name} as expected"
    found = await until(
        lambda: api.find(resource, name, namespace),
        lambda seen: seen is not None and holds(seen),
        seconds=seconds,
        what=expected,
    )
    assert found is not None
    return found


async def until_gone(
    api: Api, resource: Resource, name: str, namespace: str | None = None, *, seconds: float = 60.0
) -> None:
    await until(
        lambda: api.find(resource, name, namespace),
        lambda seen: seen is None,
        seconds=seconds,
        what=f"the end of {resource.kind} {name}",
    )


def condition(seen: Manifest, type_: str) -> str:
    """The status of a condition: True, False or Unknown; empty if absent."""
    found = [entry for entry in seen.get("status", {}).get("conditions", ()) if entry["type"] == type_]
    return str(found[0]["status"]) if found else ""


def shown(seen: object) -> str:
    """The object for a message: without managedFields, and cut."""
    if not isinstance(seen, dict | list):
        return str(seen)
    return json.dumps(_without_managed_fields(seen), indent=1, default=str)[:CHARACTERS_SHOWN]


def _without_managed_fields(seen: object) -> object:
    if isinstance(seen, dict):
        return {key: _without_managed_fields(value) for key, value in seen.items() if key != "managedFields"}
    return [_without_managed_fields(entry) for entry in seen] if isinstance(seen, list) else seen
