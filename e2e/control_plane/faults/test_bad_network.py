"""The network between operator and API server is faulty: every job ends as it would without faults."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from pathlib import Path

import pytest
from testkit.cluster.cluster import Cluster
from testkit.control_plane.faulty_lifecycle import FaultScenario, survives, tracebacks
from testkit.harness import EVERY_KIND, FAST, KINDS, LIFECYCLES, Kind
from testkit.proxy import (
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
from testkit.proxy.faults import WatchFault
from testkit.simulators import Fail, Succeed

ALONE = replace(FAST, resync=600.0)
"""No relist repairs anything: the operator recovers by retries alone."""
IMPATIENT = replace(ALONE, request_timeout=1.0)
WATCHFUL = replace(FAST, resync=1.0)
"""The next relist finds the changes that no event reports."""
CORE = ("two crashes, then success", "suspended and resumed")
AT_ONCE = 4
"""Lifecycles in parallel."""
CHILDREN = ("jobs", "rayjobs")
VERBS = ("list", "watch", "get", "write")


def statuses(fault: Fault, times: int = 2) -> list[Rule]:
    """All status writes except the first one, so the job has started."""
    return [Rule(fault, verb="patch", resource="trainingjobs", subresource="status", skip=1, times=times)]


def children(fault: Fault) -> list[Rule]:
    """Creations of the first child and of the second."""
    return [Rule(fault, verb="create", resource=resource, times=2) for resource in CHILDREN]


def blind(fault: Fault) -> list[Rule]:
    """Every watch of children fails."""
    return [Rule(fault, verb="watch", resource=resource, times=None) for resource in CHILDREN]


def some(fault: Fault, *verbs: str) -> list[Rule]:
    """One request in four, drawn with the proxy's seed, without end."""
    return [Rule(fault, verb=verb, times=None, chance=0.25) for verb in verbs]


def first(fault: Fault, *verbs: str) -> list[Rule]:
    """The first requests fail: the API server is unhealthy while the operator starts."""
    return [Rule(fault, verb=verb, times=5) for verb in verbs]


def always(fault: WatchFault) -> list[Rule]:
    """Every watch has the fault."""
    return [Rule(fault, times=None)]


REQUESTS = (
    FaultScenario("409 to a status", statuses(Answer(code=409)), ALONE),
    FaultScenario("409 to a status that was written", statuses(Answer(code=409, after=True)), ALONE),
    FaultScenario("409 to a child that is not there", children(Answer(code=409, reason="AlreadyExists")), ALONE),
    FaultScenario("410 to lists and watches", first(Answer(code=410), "list", "watch"), ALONE),
    FaultScenario(
        "410 to every watch of children", [Rule(Answer(code=410), "watch", one, times=None) for one in CHILDREN], ALONE
    ),
    FaultScenario("410 to writes", some(Answer(code=410), "write"), ALONE),
    FaultScenario("422 to a status", statuses(Answer(code=422), times=4), ALONE),
    FaultScenario("422 to a child", children(Answer(code=422)), ALONE),
    FaultScenario("429 to writes", [Rule(Answer(code=429, retry_after=1), verb="write", skip=1, times=2)], ALONE),
    FaultScenario("429 to lists and watches", first(Answer(code=429, retry_after=1), "list", "watch"), ALONE),
    FaultScenario("500 to a burst of writes", [Rule(Answer(code=500), verb="write", skip=1, times=6)], ALONE),
    FaultScenario("500 to writes that took effect", some(Answer(code=500, after=True), "write"), ALONE),
    FaultScenario(
        "503 to a burst of everything", [Rule(Answer(code=503), verb=verb, times=8) for verb in VERBS], ALONE
    ),
    FaultScenario("resets before writes", some(Reset(), "write"), ALONE),
    FaultScenario("resets after writes", some(Reset(after=True), "write"), ALONE),
    FaultScenario("resets of everything", some(Reset(), *VERBS), ALONE),
    FaultScenario("hangs before writes", [Rule(Hang(), verb="write", skip=2, times=2)], IMPATIENT),
    FaultScenario("hangs after writes", [Rule(Hang(after=True), verb="write", skip=2, times=2)], IMPATIENT),
    FaultScenario("hanging lists", first(Hang(), "list"), IMPATIENT),
    FaultScenario("bodies cut off", some(Truncate(), "list", "get", "write"), ALONE),
    FaultScenario("slow answers", some(Delay(seconds=0.3), *VERBS), ALONE),
)
WATCHES = (
    FaultScenario("410 in the stream", always(StreamError(events=1))),
    FaultScenario("500 in the stream", always(StreamError(events=2, code=500))),
    FaultScenario("events that never come", always(Drop()), WATCHFUL),
    FaultScenario("events dropped", always(Drop(chance=0.5)), WATCHFUL),
    FaultScenario("events doubled", always(Duplicate())),
    FaultScenario("events delayed", always(Late(seconds=0.2, chance=0.3))),
    FaultScenario("events out of order", always(Reorder(seconds=0.2)), WATCHFUL),
    FaultScenario("events of one object out of order", always(Reorder(seconds=0.2, same_object=True)), WATCHFUL),
    FaultScenario("silent watches", always(Silence(events=2)), replace(WATCHFUL, request_timeout=1.0)),
    FaultScenario("watches closed", always(Close(events=2))),
    FaultScenario("watches closed at once", always(Close()), WATCHFUL),
    FaultScenario("watches cut", always(Cut(events=2))),
)
FAULT_SCENARIOS = REQUESTS + WATCHES
SLOW = {
    "409 to a status that was written",
    "410 to every watch of children",
    "410 to writes",
    "422 to a status",
    "429 to lists and watches",
    "500 to a burst of writes",
    "500 in the stream",
    "resets before writes",
    "resets after writes",
    "hangs before writes",
    "slow answers",
    "events doubled",
    "events delayed",
    "events of one object out of order",
    "watches cut",
}
"""For `make test-all`: another scenario goes through the same lines of the operator."""


@pytest.mark.parametrize(
    ("number", "fault"),
    [
        pytest.param(number, one, id=one.name, marks=[pytest.mark.slow] if one.name in SLOW else [])
        for number, one in enumerate(FAULT_SCENARIOS)
    ],
)
def test_job_ends_as_undisturbed(
    cluster: Cluster, tmp_path: Path, caplog: pytest.LogCaptureFixture, number: int, fault: FaultScenario
) -> None:
    """One lifecycle with several attempts, or one that is stopped and resumed; the slow test below runs all."""
    kind = EVERY_KIND[number % len(EVERY_KIND)]
    name = CORE[number // len(EVERY_KIND) % 2]
    asyncio.run(_run_all(cluster, tmp_path / "lifecycle", fault, name, kind))
    assert tracebacks(caplog) == []


def test_old_events_of_a_child_do_not_count(cluster: Cluster, tmp_path: Path) -> None:
    """No outcome is posted and no relist follows: the end is known from the child's events alone."""
    ends = [Fail(after=0.3, reported_by="exit code"), Succeed(after=0.3, reported_by="exit code")]
    lifecycle = replace(LIFECYCLES["success"], name="exit codes", scripts=ends)
    rules = [Rule(Reorder(seconds=0.4, same_object=True), resource=one, times=None) for one in CHILDREN]

    async def scenario() -> None:
        async with asyncio.TaskGroup() as group:
            for seed in range(AT_ONCE):
                folder = tmp_path / str(seed)
                folder.mkdir()
                group.create_task(
                    survives(cluster.kubeconfig, folder, FaultScenario("", rules, ALONE), lifecycle, "ray", seed)
                )

    asyncio.run(scenario())


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("fault", FAULT_SCENARIOS, ids=lambda one: one.name)
def test_every_life_ends_as_undisturbed(
    cluster: Cluster, tmp_path: Path, caplog: pytest.LogCaptureFixture, fault: FaultScenario, kind: Kind
) -> None:
    async def scenario() -> None:
        room = asyncio.Semaphore(AT_ONCE)
        async with asyncio.TaskGroup() as group:
            for number, name in enumerate(LIFECYCLES):
                group.create_task(one_of_them(room, tmp_path / str(number), name))

    async def one_of_them(room: asyncio.Semaphore, folder: Path, name: str) -> None:
        async with room:
            await _run_all(cluster, folder, fault, name, kind)

    asyncio.run(scenario())
    assert tracebacks(caplog) == []


async def _run_all(cluster: Cluster, folder: Path, fault: FaultScenario, name: str, kind: Kind) -> None:
    folder.mkdir()
    await survives(cluster.kubeconfig, folder, fault, LIFECYCLES[name], kind)
