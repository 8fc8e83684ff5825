"""Real Kueue with the operator: queues, quotas, preemption, requeuing. No pod runs: simulators write their statuses.

`make kueue` builds Kueue from Go modules.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator

import pytest
from testkit.api import Api, condition, until
from testkit.cluster.cluster import Cluster
from testkit.cluster.kueue_manager import KueueManager
from testkit.cluster.kueue_objects import GPU, HIGH, LABEL, PRIORITY, QUEUE, resources_of
from testkit.control_plane.installed import Installed, installed
from testkit.control_plane.queues import WORKLOADS, furnish, team
from testkit.harness import KINDS, Kind
from testkit.simulators import NeverStart, RunForever, Succeed

pytestmark = pytest.mark.slow

THREE_CPUS = {"resources": {"requests": {"cpu": "3"}}}
IMPATIENT = {"timeout": "3s", "recoveryTimeout": "60s", "requeuingStrategy": {"backoffBaseSeconds": 1}}
"""waitForPodsReady: Kueue takes back what it admitted if the pods are not ready in time."""


@pytest.fixture(scope="module")
def kueue(exclusive_cluster_of_module: Cluster) -> Iterator[KueueManager]:
    with KueueManager(exclusive_cluster_of_module) as manager:
        yield manager


@pytest.fixture(scope="module")
def operated(kueue: KueueManager, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Installed]:
    """The operator under the roles of its manifest."""
    with installed(kueue.cluster, tmp_path_factory.mktemp("operator"), "clusterwide.yaml", workloads=None) as one:
        asyncio.run(_furnish(kueue.cluster))
        yield one


async def _furnish(cluster: Cluster) -> None:
    async with Api(cluster.kubeconfig) as api:
        await furnish(api)


@pytest.mark.parametrize("kind", KINDS)
def test_a_child_is_suspended_until_it_is_admitted(operated: Installed, kind: Kind) -> None:
    async def play() -> None:
        async with team(operated) as own:
            await own.stops("Hold")
            await own.submits("flights", Succeed(), kind=kind)
            waits = await own.sees_reason("flights", f"ClusterQueue {own.namespace} is inactive")
            [child] = await own.children()
            assert child["metadata"]["labels"][LABEL] == QUEUE
            assert (child["spec"]["suspend"], await own.pods()) == (True, [])
            assert waits["message"].startswith(f"{child['kind']} {child['metadata']['name']} waits in its queue: ")
            await own.stops("None")
            done = await own.sees_phase("flights", "Complete")
            assert ([one["outcome"] for one in done["attempts"]], done.get("preemptions")) == (["done"], None)
            owner = f"{child['kind']}/{child['metadata']['name']}"
            await until(own.workloads, lambda found: condition(found[owner], "Finished") == "True")

    asyncio.run(play())


def test_a_job_waits_for_the_quota_of_another(operated: Installed) -> None:
    async def play() -> None:
        async with team(operated, {"cpu": "1"}) as own:
            await own.submits("first", RunForever())
            await own.sees_phase("first", "Running")
            await own.submits("second", Succeed())
            await own.sees_reason("second", "insufficient unused quota for cpu in flavor any, 1 more needed")
            await own.deletes("first")
            await own.sees_phase("second", "Complete")

    asyncio.run(play())


@pytest.mark.parametrize("kind", KINDS)
def test_a_preempted_job_is_queued_again_as_a_new_attempt(operated: Installed, kind: Kind) -> None:
    """Its new Workload is younger than that of a job which waits already, so that job goes first."""

    async def play() -> None:
        async with team(operated, {"cpu": "3"}) as own:
            await own.submits("low", RunForever(), Succeed(), kind=kind)
            await own.sees_phase("low", "Running")
            await own.submits("waiting", RunForever(), podTemplate=THREE_CPUS)
            await own.sees_reason("waiting", "insufficient unused quota for cpu")
            await own.next_second()
            urgent = {"labels": {PRIORITY: HIGH}}
            await own.submits("high", RunForever(), podTemplate=THREE_CPUS, childMetadata=urgent)
            await own.sees_phase("high", "Running")
            status = await own.sees("low", "its second attempt", lambda status: status.get("attempt") == 2)
            first = status["attempts"][0]
            assert (first["outcome"], first["reason"]) == ("preempted", "Requeued")
            assert "Preempted to accommodate a workload" in first["message"]
            assert (status.get("preemptions"), status.get("retries")) == (1, None)
            await own.sees_reason("low", "insufficient unused quota for cpu")
            await own.deletes("high")
            await own.sees_phase("waiting", "Running")
            await own.sees_reason("low", "insufficient unused quota for cpu")
            await own.deletes("waiting")
            done = await own.sees_phase("low", "Complete")
            assert [one["outcome"] for one in done["attempts"]] == ["preempted", "done"]

    asyncio.run(play())


def test_a_drained_queue_sends_its_jobs_back(operated: Installed) -> None:
    async def play() -> None:
        async with team(operated) as own:
            await own.submits("flights", RunForever(), Succeed())
            await own.sees_phase("flights", "Running")
            await own.stops("HoldAndDrain")
            status = await own.sees_reason("flights", "is inactive")
            assert (status["attempt"], status["preemptions"]) == (2, 1)
            await own.stops("None")
            await own.sees_phase("flights", "Complete")

    asyncio.run(play())


def test_a_deactivated_workload_of_a_running_job_is_replaced(operated: Installed) -> None:
    """docs/operations.md says so: suspend the TrainingJob instead."""

    async def play() -> None:
        async with team(operated) as own:
            await own.submits("flights", RunForever(), Succeed())
            child = (await own.sees_phase("flights", "Running"))["child"]
            workload = (await own.workloads())[f"Job/{child}"]["metadata"]["name"]
            await own.api.patch(WORKLOADS, workload, own.namespace, {"spec": {"active": False}})
            done = await own.sees_phase("flights", "Complete")
            assert "The workload is deactivated" in done["attempts"][0]["message"]
            assert (done["attempt"], done["preemptions"]) == (2, 1)

    asyncio.run(play())


def test_two_stages_are_two_workloads(operated: Installed) -> None:
    """The first one asks for no GPU, so it runs while too few are free."""

    async def play() -> None:
        async with team(operated, {GPU: "1"}) as own:
            await own.stops("Hold")
            await own.submits("flights", Succeed(), kind="gpu")
            status = await own.sees_reason("flights", "is inactive")
            assert status["attempts"][-1]["stage"] == "preprocess"
            first = (await own.workloads())[f"Job/{status['child']}"]
            await own.stops("None")
            status = await own.sees_reason("flights", "insufficient quota for nvidia.com/gpu")
            assert (status["preprocessed"]["attempt"], status["attempts"][-1]["stage"]) == (1, "train")
            second = (await own.workloads())[f"RayJob/{status['child']}"]
            assert (GPU in resources_of(first), GPU in resources_of(second)) == (False, True)
            await own.has_quota({GPU: "2"})
            done = await own.sees_phase("flights", "Complete")
            assert (done["attempt"], done.get("preemptions")) == (1, None)

    asyncio.run(play())


@pytest.mark.parametrize("kind", KINDS)
def test_a_job_whose_pods_are_not_ready_in_time_is_queued_again(
    operated: Installed, kueue: KueueManager, kind: Kind
) -> None:
    """It has not started, so it stays the same attempt and the same child."""

    async def play() -> None:
        async with team(operated) as own:
            await own.submits("flights", NeverStart(), kind=kind)
            await own.sees_reason("flights", "Exceeded the PodsReady timeout")
            [child] = await own.children()
            own.simulators.scripts.give(own.namespace, "flights", Succeed())
            done = await own.sees_phase("flights", "Complete")
            assert (done["attempt"], done["child"]) == (1, child["metadata"]["name"])
            assert done.get("preemptions") is None

    kueue.stop()
    kueue.start(waitForPodsReady=IMPATIENT)
    try:
        asyncio.run(play())
    finally:
        kueue.stop()
        kueue.start()
