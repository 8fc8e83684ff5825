"""The operator restarts, and the first replies of the API server are stale."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path

import pytest
from testkit.api import Manifest, until
from testkit.cluster.cluster import Cluster
from testkit.control_plane.faulty_lifecycle import assert_same, calm, tracebacks
from testkit.harness import EVERY_KIND, Kind, Lifecycle, run_lifecycle
from testkit.harness.lifecycle import User
from testkit.proxy import Late, Proxy, Rule, Stale
from testkit.simulators import Fail, Succeed

RESOURCES: Mapping[str, tuple[str, ...]] = {
    "jobs": ("trainingjobs",),
    "children": ("jobs", "rayjobs"),
    "pods": ("pods",),
    "everything": ("trainingjobs", "jobs", "rayjobs", "pods"),
}
SECONDS_BEHIND = 0.4
"""The delay of the events that bring the operator up to date."""
RUNS = 3.0
"""Seconds of an attempt: long enough to be seen running, even by an operator whose events are late."""
Moment = str
Reached = Callable[[Moment], Awaitable[None]]


async def _nothing(_: Moment) -> None:
    pass


def lifecycle(name: str, at: Callable[[User], Reached] = lambda _: _nothing) -> Lifecycle:
    """Suspended at first, then a crash, then success; `at` is called at every moment of it."""

    async def scenario(user: User) -> None:
        reached = at(user)
        await user.sees_true("Suspended")
        await reached("suspended")
        await user.change(suspend=False)
        await user.sees("the first attempt running", lambda job: _runs(job, 1))
        await reached("first attempt")
        await user.sees("the second attempt running", lambda job: _runs(job, 2))
        await reached("second attempt")
        await user.sees_true("Complete")
        await reached("complete")

    return Lifecycle(name, [Fail(after=RUNS), Succeed(after=RUNS)], scenario, {"suspend": True})


MOMENTS = (
    ("suspended", "first attempt"),
    ("suspended", "second attempt"),
    ("first attempt", "second attempt"),
    ("first attempt", "complete"),
    ("second attempt", "complete"),
)


@pytest.mark.parametrize(
    "stale",
    ["everything", *(pytest.param(one, marks=pytest.mark.slow) for one in ("children", "jobs", "pods"))],
)
def test_operator_starts_from_an_older_list(
    cluster: Cluster, tmp_path: Path, caplog: pytest.LogCaptureFixture, stale: str
) -> None:
    async def scenario() -> None:
        async with asyncio.TaskGroup() as group:
            for number, (then, now) in enumerate(MOMENTS):
                kind = EVERY_KIND[(number + len(stale)) % len(EVERY_KIND)]
                group.create_task(_run_all(cluster, tmp_path / str(number), kind, stale, then, now))

    asyncio.run(scenario())
    assert tracebacks(caplog) == []


async def _run_all(cluster: Cluster, folder: Path, kind: Kind, stale: str, then: Moment, now: Moment) -> None:
    """At the moment `now`, the operator lists the objects as they were at the moment `then`."""
    folder.mkdir()
    undisturbed = await calm(cluster.kubeconfig, lifecycle("stale"), kind)
    async with Proxy(cluster.kubeconfig, folder) as proxy:
        disturbed = lifecycle("stale", lambda user: Restart(proxy, user, RESOURCES[stale], then, now).reached)
        result = await run_lifecycle(cluster.kubeconfig, disturbed, kind, operator=proxy.kubeconfig)
        assert [rule.hits for rule in proxy.rules if isinstance(rule.fault, Stale)] == [1] * len(RESOURCES[stale])
        assert_same(result, undisturbed, proxy)


class Restart:
    def __init__(self, proxy: Proxy, user: User, resources: tuple[str, ...], then: Moment, now: Moment) -> None:
        self._proxy, self._user, self._resources, self._then, self._now = proxy, user, resources, then, now
        self._frozen: Mapping[str, bytes] = {}

    async def reached(self, moment: Moment) -> None:
        if moment == self._then:
            self._frozen = await self._proxy.freeze()
        if moment == self._now:
            await self._restart()

    async def _restart(self) -> None:
        await self._user.operators.stop()
        rules = [Rule(Stale(frozen=self._frozen), verb="list", resource=resource) for resource in self._resources]
        self._proxy.add(*rules, *(Rule(Late(seconds=SECONDS_BEHIND), resource=one) for one in self._resources))
        self._user.operators.start()
        await until(self._hits, lambda hits: hits == len(rules), what="the stale lists")

    async def _hits(self) -> int:
        return sum(rule.hits for rule in self._proxy.rules if isinstance(rule.fault, Stale))


def _runs(job: Manifest, attempt: int) -> bool:
    status = job.get("status", {})
    return bool(status.get("phase") == "Running" and status.get("attempt") == attempt)
