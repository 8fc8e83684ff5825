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
from testkit.harness import Kill, Kind, Lifecycle, LifecycleResult, run_lifecycle

Result = TypeVar("Result")
AT_ONCE = 6
"""Lifecycles in parallel. They mostly wait."""


async def calm(kubeconfig: Path, lifecycle: Lifecycle, kind: Kind) -> LifecycleResult:
    """The undisturbed lifecycle."""
    result = await run_lifecycle(kubeconfig, lifecycle, kind)
    assert complaints(result, result.state) == []
    return result


def every_crash(writes: int) -> list[Kill]:
    """A crash before and after each of `writes` writes."""
    return [kill for number in range(1, writes + 1) for kill in (Kill(number, "before"), Kill(number, "after"))]


async def all_end_alike(
    kubeconfig: Path, lifecycle: Lifecycle, kind: Kind, undisturbed: LifecycleResult, crashes: Iterable[Sequence[Kill]]
) -> None:
    """Run one lifecycle for each of `crashes`. All failures are reported together."""
    results = await side_by_side(_ends_alike(kubeconfig, lifecycle, kind, undisturbed, kills) for kills in crashes)
    assert results, "no operator crashed"
    wrong = [line for lines in results for line in lines]
    assert not wrong, "\n".join(wrong)


async def side_by_side(runs: Iterable[Awaitable[Result]], at_once: int = AT_ONCE) -> list[Result]:
    gate = asyncio.Semaphore(at_once)

    async def limited(run: Awaitable[Result]) -> Result:
        async with gate:
            return await run

    return await asyncio.gather(*(limited(run) for run in runs))


def complaints(result: LifecycleResult, expected: Any) -> list[str]:
    """The errors of a lifecycle, one per line; empty if there are none."""
    return [*result.violations, *(f"an orphan: {one}" for one in result.orphans), *_difference(expected, result.state)]


async def _ends_alike(
    kubeconfig: Path, lifecycle: Lifecycle, kind: Kind, undisturbed: LifecycleResult, kills: Sequence[Kill]
) -> list[str]:
    try:
        result = await _with_crashes(kubeconfig, lifecycle, kind, kills)
    except NotReached as error:
        return [f"{lifecycle.name} of {kind}, {kills}: {error}", *getattr(error, "__notes__", ())]
    found = complaints(result, undisturbed.state)
    return [f"{lifecycle.name} of {kind}, {kills}; its writes: {result.writes.done}", *found] if found else []


async def _with_crashes(kubeconfig: Path, lifecycle: Lifecycle, kind: Kind, kills: Sequence[Kill]) -> LifecycleResult:
    """A lifecycle may by chance need fewer writes than the undisturbed one: then a new one crashes a write earlier."""
    while True:
        result = await run_lifecycle(kubeconfig, lifecycle, kind, kills)
        if result.writes.crashes:
            return result
        kills = [replace(kill, write=kill.write - 1) for kill in kills]


def _difference(expected: Any, found: Any) -> list[str]:
    before, after = (json.dumps(state, indent=1, sort_keys=True).splitlines() for state in (expected, found))
    return list(difflib.unified_diff(before, after, "undisturbed", "disturbed", lineterm="", n=2))
