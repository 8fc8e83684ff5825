"""The proxy with a real API server: clients keep their identities, and requests get the configured faults."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
from testkit.api import Api, ApiError, until, until_object
from testkit.api.resource import CONFIG_MAPS, NODES, TRAINING_JOBS
from testkit.cluster.cluster import Cluster
from testkit.harness import LIFECYCLES, run_lifecycle, training_job
from testkit.proxy import Answer, Drop, Proxy, Reset, Rule, Silence, Stale, StreamError

pytestmark = pytest.mark.slow  # it tests the testkit, which every other test uses

MADE = {"metadata": {"name": "one"}}


def test_requests_are_those_of_the_kubeconfigs_user(cluster: Cluster, namespace: str, tmp_path: Path) -> None:
    nobody = cluster.as_user("nobody")

    async def scenario() -> None:
        async with Proxy(nobody.kubeconfig, tmp_path) as proxy, Api(proxy.kubeconfig) as api:
            with pytest.raises(ApiError, match='User "nobody" cannot list resource "configmaps"'):
                await api.list(CONFIG_MAPS, namespace)

    asyncio.run(scenario())


def test_write_whose_answer_is_lost_has_taken_effect(cluster: Cluster, namespace: str, tmp_path: Path) -> None:
    async def scenario() -> None:
        async with Proxy(cluster.kubeconfig, tmp_path) as proxy, Api(proxy.kubeconfig) as api:
            proxy.add(Rule(Reset(after=True), verb="create"))
            with pytest.raises((ConnectionError, OSError)):
                await api.create(CONFIG_MAPS, MADE, namespace)
            assert await api.find(CONFIG_MAPS, "one", namespace) is not None
            [lost] = proxy.sendings.writes
            assert (lost.took_effect, lost.code) == (True, 0)

    asyncio.run(scenario())


def test_watch_that_is_reported_gone_is_a_watch_no_more(cluster: Cluster, namespace: str, tmp_path: Path) -> None:
    async def scenario() -> None:
        async with Proxy(cluster.kubeconfig, tmp_path) as proxy, Api(proxy.kubeconfig) as api:
            listing = await api.list(TRAINING_JOBS, namespace)
            await api.create(TRAINING_JOBS, training_job("flights"), namespace)
            proxy.add(Rule(StreamError(events=1)))
            watch = api.watch(TRAINING_JOBS, namespace, listing.resource_version)
            assert (await anext(watch)).type == "ADDED"
            with pytest.raises(ApiError, match="410"):
                await anext(watch)

    asyncio.run(scenario())


def test_stale_list_brings_back_what_is_gone(cluster: Cluster, namespace: str, tmp_path: Path) -> None:
    async def scenario() -> None:
        async with Proxy(cluster.kubeconfig, tmp_path) as proxy, Api(proxy.kubeconfig) as api:
            await api.create(TRAINING_JOBS, training_job("flights"), namespace)
            await api.list(TRAINING_JOBS, namespace)
            frozen = await proxy.freeze()
            await api.delete(TRAINING_JOBS, "flights", namespace)
            assert (await api.list(TRAINING_JOBS, namespace)).items == []
            proxy.add(Rule(Stale(frozen=frozen), verb="list", resource="trainingjobs"))
            assert len((await api.list(TRAINING_JOBS, namespace)).items) == 1

    asyncio.run(scenario())


def test_server_that_is_restarted_behind_the_proxy(exclusive_cluster: Cluster, tmp_path: Path) -> None:
    async def scenario() -> None:
        async with Proxy(exclusive_cluster.kubeconfig, tmp_path) as proxy, Api(proxy.kubeconfig) as api:
            await api.list(NODES)
            await asyncio.to_thread(exclusive_cluster.stop_api_server)
            with pytest.raises((ConnectionError, OSError)):
                await api.list(NODES)
            await asyncio.to_thread(exclusive_cluster.start_api_server)
            await until(lambda: api.list(NODES), lambda _: True, what="an answer")

    asyncio.run(scenario())


@pytest.mark.parametrize(
    "rules",
    [
        [Rule(Answer(code=500, after=True), verb="write", skip=2, times=3)],
        [Rule(Drop(chance=0.5), resource="jobs", times=None)],
        [Rule(Silence(), resource="trainingjobs", times=None)],
    ],
    ids=["lost answers", "dropped events", "silent watches"],
)
def test_operator_lives_through_it(cluster: Cluster, tmp_path: Path, rules: list[Rule]) -> None:
    async def scenario() -> None:
        async with Proxy(cluster.kubeconfig, tmp_path) as proxy:
            success = LIFECYCLES["success"]
            undisturbed = await run_lifecycle(cluster.kubeconfig, success, "local")
            proxy.add(*rules)
            disturbed = await run_lifecycle(
                cluster.kubeconfig, LIFECYCLES["success"], "local", operator=proxy.kubeconfig
            )
            assert rules[0].hits > 0
            assert disturbed.state == undisturbed.state
            assert list(disturbed.violations) == []

    asyncio.run(scenario())


def test_everything_that_a_client_asks_is_recorded(cluster: Cluster, namespace: str, tmp_path: Path) -> None:
    async def scenario() -> None:
        async with Proxy(cluster.kubeconfig, tmp_path) as proxy, Api(proxy.kubeconfig) as api:
            await api.create(CONFIG_MAPS, MADE, namespace)
            await until_object(api, CONFIG_MAPS, "one", namespace)
            await api.apply(CONFIG_MAPS, {**MADE, "data": {"a": "b"}}, "tests", namespace)
            assert proxy.sendings.counts == {
                ("create", "configmaps", ""): 1,
                ("get", "configmaps", ""): 1,
                ("patch", "configmaps", ""): 1,
            }
            assert b'"data"' in proxy.sendings.writes[-1].body
            await proxy.sendings.quiet(0.2)

    asyncio.run(scenario())
