"""Two operators: one hands over to the other, one loses its Lease, or both believe that they lead."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import replace
from datetime import datetime
from pathlib import Path

import pytest
from testkit.api import Api, Manifest, until
from testkit.api.resource import LEASES, TRAINING_JOBS
from testkit.cluster.cluster import Cluster
from testkit.control_plane.crashes import calm, complaints, side_by_side
from testkit.control_plane.operator_kills import QUICK, Processes
from testkit.control_plane.operator_process import OperatorProcess, operator
from testkit.harness import (
    KINDS,
    LIFECYCLES,
    Kind,
    Operators,
    User,
    Writes,
    run_lifecycle,
    run_lifecycle_under,
    training_job,
)
from testkit.proxy import Delay, Late, Proxy, Rule
from testkit.proxy.record import Sent

from trainwright_operator.kube import leader_election
from trainwright_operator.settings import Settings

PROMISED = 15.0
"""Seconds from the death of one leader to the first action of the next, with the settings of the chart."""
BUSY = 8.0
"""Extra time for a busy machine."""
JOBS_TO_START = 30
LAG = 0.15
"""Minimum seconds between two events."""


ONE_KIND_SOON = ["ray", *(pytest.param(kind, marks=pytest.mark.slow) for kind in KINDS if kind != "ray")]
"""Full lifecycles of every kind take minutes."""


# Both believe that they lead.


@pytest.mark.parametrize("kind", ONE_KIND_SOON)
def test_both_lead_for_whole_lives(cluster: Cluster, kind: Kind) -> None:
    led_by_both(cluster, kind)


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("_", range(10))
def test_both_lead_again_and_again(cluster: Cluster, kind: Kind, _: int) -> None:
    led_by_both(cluster, kind)


def led_by_both(cluster: Cluster, kind: Kind) -> None:
    async def one(name: str) -> list[str]:
        lifecycle = LIFECYCLES[name]
        undisturbed = await calm(cluster.kubeconfig, lifecycle, kind)
        result = await run_lifecycle(cluster.kubeconfig, lifecycle, kind, at_once=2)
        return [f"{name} of {kind}: {line}" for line in complaints(result, undisturbed.state)]

    async def run_all() -> list[str]:
        return [line for results in await side_by_side(map(one, LIFECYCLES)) for line in results]

    wrong = asyncio.run(run_all())
    assert not wrong, "\n".join(wrong)


@pytest.mark.slow  # each kind takes half a minute; the test above shows two leaders of whole lifecycles
@pytest.mark.parametrize("kind", KINDS)
def test_one_of_both_sees_everything_late(cluster: Cluster, tmp_path: Path, kind: Kind) -> None:
    """Like a process that was paused for a while and has not noticed it."""

    async def one(name: str, late: Path) -> list[str]:
        lifecycle, writes = LIFECYCLES[name], Writes()
        undisturbed = await calm(cluster.kubeconfig, lifecycle, kind)

        @asynccontextmanager
        async def both(namespace: str) -> AsyncIterator[Operators]:
            settings = replace(lifecycle.settings, namespaces=(namespace,))
            async with (
                Operators(cluster.kubeconfig, settings, writes) as prompt,
                Operators(late, settings, writes),
            ):
                yield prompt

        result = await run_lifecycle_under(cluster.kubeconfig, lifecycle, kind, both)
        return [f"{name} of {kind}: {line}" for line in complaints(result, undisturbed.state)]

    async def run_all() -> list[str]:
        async with Proxy(cluster.kubeconfig, tmp_path) as proxy:
            proxy.add(Rule(Late(seconds=LAG), times=None))
            results = await side_by_side(one(name, proxy.kubeconfig) for name in LIFECYCLES)
        return [line for lines in results for line in lines]

    wrong = asyncio.run(run_all())
    assert not wrong, "\n".join(wrong)


def test_two_processes_lead_at_once(cluster: Cluster, namespace: str, tmp_path: Path) -> None:
    """Each holds its own Lease."""

    async def run_all() -> None:
        lifecycle, kubeconfig = LIFECYCLES["two crashes, then success"], cluster.kubeconfig
        undisturbed = await calm(kubeconfig, lifecycle, "ray")
        async with Proxy(kubeconfig, tmp_path) as proxy, Api(kubeconfig) as api:
            other = await api.make_namespace("operator")

            @asynccontextmanager
            async def both(of_job: str) -> AsyncIterator[Processes]:
                async with AsyncExitStack() as stack:
                    for own in (namespace, other):
                        one = await stack.enter_async_context(Processes(cluster, proxy, tmp_path, own, of_job))
                        await leads(api, own, "one")
                    yield one

            result = await run_lifecycle_under(kubeconfig, lifecycle, "ray", both)
        assert complaints(result, undisturbed.state) == []

    asyncio.run(run_all())


# One hands over to the other.


def test_hand_over_in_order_waits_for_nothing(cluster: Cluster, namespace: str, tmp_path: Path) -> None:
    """The Lease would last ten minutes."""
    terms = {"TRAINWRIGHT_LEASE_DURATION": "600", "TRAINWRIGHT_LEASE_RENEW": "0.3"}

    async def ends(api: Api, one: OperatorProcess) -> None:
        assert await asyncio.to_thread(one.terminate) == 0
        await leads(api, namespace, "two")

    asyncio.run(handed_over(cluster, namespace, tmp_path, terms, ends))


def test_hand_over_by_death_waits_for_the_end_of_the_lease(cluster: Cluster, namespace: str, tmp_path: Path) -> None:
    """A quarter of the chart's times, which keep the promise of 15 s."""
    settings = Settings()
    assert settings.lease_duration + settings.lease_renew <= PROMISED
    duration, renew = settings.lease_duration / 4, settings.lease_renew / 4
    terms = {"TRAINWRIGHT_LEASE_DURATION": str(duration), "TRAINWRIGHT_LEASE_RENEW": str(renew)}

    async def crashes(api: Api, one: OperatorProcess) -> None:
        one.kill()
        renewed = moment((await spec(api, namespace))["renewTime"])
        await leads(api, namespace, "two")
        taken = moment((await spec(api, namespace))["acquireTime"])
        assert duration <= (taken - renewed).total_seconds() <= duration + renew + BUSY

    asyncio.run(handed_over(cluster, namespace, tmp_path, terms, crashes))


async def handed_over(
    cluster: Cluster,
    namespace: str,
    folder: Path,
    terms: Mapping[str, str],
    ends: Callable[[Api, OperatorProcess], Awaitable[None]],
) -> None:
    """One hands over during a lifecycle, whose end state stays the same."""
    lifecycle, kubeconfig = LIFECYCLES["suspended and resumed"], cluster.kubeconfig
    undisturbed = await calm(kubeconfig, lifecycle, "gang")
    ours: list[OperatorProcess] = []

    async def scenario(user: User) -> None:
        await user.sees("the running phase", lambda job: job.get("status", {}).get("phase") == "Running")
        await ends(user.api, ours[0])
        await lifecycle.scenario(user)

    async with Proxy(kubeconfig, folder) as proxy:

        @asynccontextmanager
        async def pair(of_job: str) -> AsyncIterator[Processes]:
            places = {"TRAINWRIGHT_NAMESPACE": namespace, "TRAINWRIGHT_NAMESPACES": of_job}
            results = {**QUICK, **places, **terms, "KUBECONFIG": str(proxy.kubeconfig)}
            with operator(cluster, folder / "one", "one", **results) as one:
                async with Api(kubeconfig) as api:
                    await leads(api, namespace, "one")
                with operator(cluster, folder / "two", "two", **results) as two:
                    await asyncio.wait_for(_serves(two), 60)
                    ours.append(one)
                    yield Processes(cluster, proxy, folder, namespace, of_job)

        result = await run_lifecycle_under(kubeconfig, replace(lifecycle, scenario=scenario), "gang", pair)
    assert complaints(result, undisturbed.state) == []


# One loses its Lease.


def test_an_operator_that_loses_the_lease_writes_nothing_more(cluster: Cluster, namespace: str, tmp_path: Path) -> None:
    """Many writes are due, one after the other: only those in flight when it learns of the loss still arrive."""

    async def scenario() -> None:
        async with Proxy(cluster.kubeconfig, tmp_path) as proxy, Api(cluster.kubeconfig) as api:
            proxy.add(Rule(Delay(seconds=0.5), resource="trainingjobs", verb="patch", times=None))
            places = {"TRAINWRIGHT_NAMESPACE": namespace, "TRAINWRIGHT_NAMESPACES": namespace}
            results = {**QUICK, **places, "TRAINWRIGHT_CONCURRENCY": "1", "KUBECONFIG": str(proxy.kubeconfig)}
            with operator(cluster, tmp_path / "log", "one", **results) as one:
                await leads(api, namespace, "one")
                for number in range(JOBS_TO_START):
                    await api.create(TRAINING_JOBS, training_job(f"flights-{number}"), namespace)
                await api.patch(LEASES, leader_election.NAME, namespace, {"spec": {"holderIdentity": "usurper"}})
                assert await asyncio.to_thread(one.process.wait, 60) == 1
            asked = proxy.sendings.all
            learned = max(at for at, sent in enumerate(asked) if _looks_at_the_lease(sent))
            late = [f"{sent.method} {sent.target}" for sent in asked[learned:] if sent.info.is_write]
            assert len(late) <= 1, late
            assert (await spec(api, namespace))["holderIdentity"] == "usurper"

    asyncio.run(scenario())


def _looks_at_the_lease(sent: Sent) -> bool:
    return (sent.info.verb, sent.info.resource) == ("get", "leases")


async def spec(api: Api, namespace: str) -> Manifest:
    """The spec of the Lease; empty before it exists."""
    found = await api.find(LEASES, leader_election.NAME, namespace)
    return dict(found["spec"]) if found is not None else {}


async def leads(api: Api, namespace: str, name: str) -> None:
    what = f"the time of {name}"
    await until(lambda: spec(api, namespace), lambda seen: seen.get("holderIdentity") == name, seconds=60, what=what)


def moment(text: str) -> datetime:
    return datetime.strptime(text, leader_election.MICROTIME)


async def _serves(one: OperatorProcess) -> None:
    while "serving on port" not in one.messages():
        await asyncio.sleep(0.05)
