"""Lifecycles with crashes of the operator, several in parallel, compared with the same lifecycle without any."""

from __future__ import annotations

import asyncio
import difflib
import json
from collections.abc import Awaitable, Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeVar

from testkit.api import NotReached
from testkit.harness import Kill, Kind, Lifecycle, Lived, live

Told = TypeVar("Told")
AT_ONCE = 6
"""Lifecycles in parallel. They mostly wait."""


async def calm(kubeconfig: Path, life: Lifecycle, kind: Kind) -> Lived:
    """The undisturbed lifecycle."""
    lived = await live(kubeconfig, life, kind)
    assert complaints(lived, lived.state) == []
    return lived


def every_death(writes: int) -> list[Kill]:
    """A crash before and after each of `writes` writes."""
    return [kill for number in range(1, writes + 1) for kill in (Kill(number, "before"), Kill(number, "after"))]


async def all_end_alike(
    kubeconfig: Path, life: Lifecycle, kind: Kind, undisturbed: Lived, deaths: Iterable[Sequence[Kill]]
) -> None:
    """Run one lifecycle for each of `deaths`. All failures are reported together."""
    told = await side_by_side(_ends_alike(kubeconfig, life, kind, undisturbed, kills) for kills in deaths)
    assert told, "nobody died"
    wrong = [line for lines in told for line in lines]
    assert not wrong, "\n".join(wrong)


async def side_by_side(lives: Iterable[Awaitable[Told]], at_once: int = AT_ONCE) -> list[Told]:
    gate = asyncio.Semaphore(at_once)

    async def led(life: Awaitable[Told]) -> Told:
        async with gate:
            return await life

    return await asyncio.gather(*(led(life) for life in lives))


def complaints(lived: Lived, expected: Any) -> list[str]:
    """The errors of a lifecycle, one per line; empty if there are none."""
    return [*lived.violations, *(f"an orphan: {one}" for one in lived.orphans), *_difference(expected, lived.state)]


async def _ends_alike(
    kubeconfig: Path, life: Lifecycle, kind: Kind, undisturbed: Lived, kills: Sequence[Kill]
) -> list[str]:
    try:
        lived = await _with_deaths(kubeconfig, life, kind, kills)
    except NotReached as error:
        return [f"{life.name} of {kind}, {kills}: {error}", *getattr(error, "__notes__", ())]
    found = complaints(lived, undisturbed.state)
    return [f"{life.name} of {kind}, {kills}; its writes: {lived.writes.done}", *found] if found else []


async def _with_deaths(kubeconfig: Path, life: Lifecycle, kind: Kind, kills: Sequence[Kill]) -> Lived:
    """A lifecycle may by chance need fewer writes than the undisturbed one: then a new one crashes a write earlier."""
    while True:
        lived = await live(kubeconfig, life, kind, kills)
        if lived.writes.deaths:
            return lived
        kills = [replace(kill, write=kill.write - 1) for kill in kills]


def _difference(expected: Any, found: Any) -> list[str]:
    before, after = (json.dumps(state, indent=1, sort_keys=True).splitlines() for state in (expected, found))
    return list(difflib.unified_diff(before, after, "undisturbed", "disturbed", lineterm="", n=2))
