"""The network between the operator and the API server is bad: every job ends as it would have ended."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from pathlib import Path

import pytest
from e2e.cluster.cluster import Cluster
from e2e.control_plane.disasters.disaster import Disaster, survives, tracebacks
from e2e.harness import FAST, KINDS, LIFECYCLES, Kind
from e2e.proxy import (
    Answer,
    Close,
    Cut,
    Delay,
    Drop,
    Duplicate,
    Fault,
    Hang,
    Late,
    Reorder,
    Reset,
    Rule,
    Silence,
    StreamError,
    Truncate,
)
from e2e.proxy.faults import WatchFault

IMPATIENT = replace(FAST, request_timeout=1.0)
WATCHFUL = replace(FAST, resync=1.0)
"""What no event tells is found by the next list."""
AT_ONCE = 4
"""Lives side by side."""
VERBS = ("list", "watch", "get", "write")


def statuses(fault: Fault, times: int = 2) -> list[Rule]:
    """Writes of the status but the first: the job has begun."""
    return [Rule(fault, verb="patch", resource="trainingjobs", subresource="status", skip=1, times=times)]


def children(fault: Fault) -> list[Rule]:
    """Creations of the first child, and again of the second."""
    return [Rule(fault, verb="create", resource=resource, times=2) for resource in ("jobs", "rayjobs")]


def some(fault: Fault, *verbs: str) -> list[Rule]:
    """One of four, drawn by the proxy's seed, for ever."""
    return [Rule(fault, verb=verb, times=None, chance=0.25) for verb in verbs]


def first(fault: Fault, *verbs: str) -> list[Rule]:
    """An API server that is not well while the operator starts."""
    return [Rule(fault, verb=verb, times=5) for verb in verbs]


def always(fault: WatchFault) -> list[Rule]:
    """Every watch."""
    return [Rule(fault, times=None)]


REQUESTS = (
    Disaster("409 to a status", statuses(Answer(code=409))),
    Disaster("409 to a status that was written", statuses(Answer(code=409, after=True))),
    Disaster("409 to a child that is not there", children(Answer(code=409, reason="AlreadyExists"))),
    Disaster("410 to lists and watches", first(Answer(code=410), "list", "watch")),
    Disaster("410 to writes", some(Answer(code=410), "write")),
    Disaster("422 to a status", statuses(Answer(code=422), times=4)),
    Disaster("422 to a child", children(Answer(code=422))),
    Disaster("429 to writes", [Rule(Answer(code=429, retry_after=1), verb="write", skip=1, times=2)]),
    Disaster("429 to lists and watches", first(Answer(code=429, retry_after=1), "list", "watch")),
    Disaster("500 to a burst of writes", [Rule(Answer(code=500), verb="write", skip=1, times=6)]),
    Disaster("500 to writes that took effect", some(Answer(code=500, after=True), "write")),
    Disaster("503 to a burst of everything", [Rule(Answer(code=503), verb=verb, times=8) for verb in VERBS]),
    Disaster("resets before writes", some(Reset(), "write")),
    Disaster("resets after writes", some(Reset(after=True), "write")),
    Disaster("resets of everything", some(Reset(), *VERBS)),
    Disaster("hangs before writes", [Rule(Hang(), verb="write", skip=2, times=2)], IMPATIENT),
    Disaster("hangs after writes", [Rule(Hang(after=True), verb="write", skip=2, times=2)], IMPATIENT),
    Disaster("hanging lists", first(Hang(), "list"), IMPATIENT),
    Disaster("bodies cut off", some(Truncate(), "list", "get", "write")),
    Disaster("slow answers", some(Delay(seconds=0.3), *VERBS)),
)
WATCHES = (
    Disaster("410 in the stream", always(StreamError(events=1))),
    Disaster("500 in the stream", always(StreamError(events=2, code=500))),
    Disaster("events that never come", always(Drop()), WATCHFUL),
    Disaster("events dropped", always(Drop(chance=0.5)), WATCHFUL),
    Disaster("events doubled", always(Duplicate())),
    Disaster("events delayed", always(Late(seconds=0.2, chance=0.3))),
    Disaster("events out of order", always(Reorder(seconds=0.2)), WATCHFUL),
    Disaster("events of one object out of order", always(Reorder(seconds=0.2, same_object=True)), WATCHFUL),
    Disaster("silent watches", always(Silence(events=2)), replace(WATCHFUL, request_timeout=1.0)),
    Disaster("watches closed", always(Close(events=2))),
    Disaster("watches closed at once", always(Close()), WATCHFUL),
    Disaster("watches cut", always(Cut(events=2))),
)
DISASTERS = REQUESTS + WATCHES


@pytest.mark.parametrize(("number", "disaster"), list(enumerate(DISASTERS)), ids=[one.name for one in DISASTERS])
def test_job_ends_as_undisturbed(
    cluster: Cluster, tmp_path: Path, caplog: pytest.LogCaptureFixture, number: int, disaster: Disaster
) -> None:
    """Two lives for each: one that goes through attempts, one that is stopped and goes on."""

    async def scene() -> None:
        retried, stopped = KINDS[number % 3], KINDS[(number + 1) % 3]
        async with asyncio.TaskGroup() as lives:
            lives.create_task(_lives(cluster, tmp_path / "a", disaster, "two crashes, then success", retried))
            lives.create_task(_lives(cluster, tmp_path / "b", disaster, "suspended and resumed", stopped))

    asyncio.run(scene())
    assert tracebacks(caplog) == []


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("disaster", DISASTERS, ids=lambda one: one.name)
def test_every_life_ends_as_undisturbed(
    cluster: Cluster, tmp_path: Path, caplog: pytest.LogCaptureFixture, disaster: Disaster, kind: Kind
) -> None:
    async def scene() -> None:
        room = asyncio.Semaphore(AT_ONCE)
        async with asyncio.TaskGroup() as lives:
            for number, name in enumerate(LIFECYCLES):
                lives.create_task(one_of_them(room, tmp_path / str(number), name))

    async def one_of_them(room: asyncio.Semaphore, folder: Path, name: str) -> None:
        async with room:
            await _lives(cluster, folder, disaster, name, kind)

    asyncio.run(scene())
    assert tracebacks(caplog) == []


async def _lives(cluster: Cluster, folder: Path, disaster: Disaster, name: str, kind: Kind) -> None:
    folder.mkdir()
    await survives(cluster.kubeconfig, folder, disaster, LIFECYCLES[name], kind)
