"""kopf with a real API server: objects that it cannot parse, errors that end it, and events that it does not get."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from testkit.api import Api, Manifest, condition, until
from testkit.cluster.cluster import Cluster
from testkit.control_plane.operator_process import eventually, operator
from testkit.harness.jobs import training_job
from testkit.proxy import Drop, Proxy, Rule, StreamError

from trainwright_operator.controller.operator import Operator
from trainwright_operator.kube.client import Client
from trainwright_operator.kube.connection import Connection
from trainwright_operator.kube.resources import TRAINING_JOBS
from trainwright_operator.server.metrics import Metrics
from trainwright_operator.settings import Settings

DEEP = 9_000
"""Levels. The API server accepts ten thousand, Python's parser one thousand."""
JSON = {"Content-Type": "application/json"}
SECONDS = 60.0


class KopfEnvironment:
    """A namespace, its user, and a proxy for the operators of this namespace."""

    def __init__(self, api: Api, proxy: Proxy, namespace: str) -> None:
        self.api, self.proxy, self.namespace = api, proxy, namespace
        self.metrics = Metrics()

    @asynccontextmanager
    async def operating(self, resync: float = 600.0) -> AsyncIterator[Operator]:
        settings = Settings(namespaces=(self.namespace,), retry_base=0.05, retry_limit=0.3, resync=resync)
        connection = await Connection.open(str(self.proxy.kubeconfig))
        async with Client(connection) as client, Operator(client, settings, observer=self.metrics) as running:
            yield running

    async def create(self, name: str) -> None:
        await self.api.request("POST", TRAINING_JOBS.path(self.namespace), whole(training_job(name, suspend=True)))

    @asynccontextmanager
    async def nested(self, name: str) -> AsyncIterator[None]:
        """The object exists only within the block, because other clients of this cluster may fail to parse it."""
        path = TRAINING_JOBS.path(self.namespace)
        async with self.api.session.post(path, data=nested(name), headers=JSON) as answer:
            assert answer.status == 201, await answer.text()
        try:
            yield
        finally:
            async with self.api.session.delete(f"{path}/{name}") as answer:
                assert answer.status == 200, await answer.text()

    async def is_looked_at(self, name: str) -> None:
        """Wait until the status shows the requested suspension."""

        async def job() -> Manifest:
            return await self.api.request("GET", TRAINING_JOBS.path(self.namespace, name))

        await until(
            job, lambda found: condition(found, "Suspended") == "True", seconds=SECONDS, what=f"a look at {name}"
        )


def whole(job: Manifest) -> Manifest:
    return {"apiVersion": TRAINING_JOBS.api_version, "kind": TRAINING_JOBS.kind, **job}


def nested(name: str) -> bytes:
    """Nests a field that no schema describes. Built as text, because Python's own encoder cannot write it."""
    job = whole(training_job(name, suspend=True))
    job["spec"]["config"]["deep"] = "HERE"
    return json.dumps(job).replace('"HERE"', '{"a":' * DEEP + "1" + "}" * DEEP).encode()


def run_scenario(
    cluster: Cluster, namespace: str, folder: Path, scenario: Callable[[KopfEnvironment], Awaitable[None]]
) -> None:
    async def run() -> None:
        async with Api(cluster.kubeconfig) as api, Proxy(cluster.kubeconfig, folder) as proxy:
            await scenario(KopfEnvironment(api, proxy, namespace))

    asyncio.run(run())


def test_an_object_that_is_nested_too_deeply_hides_no_other(
    cluster: Cluster, namespace: str, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """In the initial list, and as an event."""

    async def scenario(environment: KopfEnvironment) -> None:
        await environment.create("a")
        await environment.create("z")
        async with environment.nested("deep-1"), environment.operating() as running:

            async def known() -> set[str]:
                return {name for (_, name), _ in running.view.jobs.store.items()}

            await environment.is_looked_at("a")
            await environment.is_looked_at("z")
            async with environment.nested("deep-2"):
                await environment.create("later")
                await environment.is_looked_at("later")
                everything = {"a", "z", "later", "deep-1", "deep-2"}
                await until(known, everything.__eq__, seconds=SECONDS, what="all five")

    run_scenario(cluster, namespace, tmp_path, scenario)
    assert "kopf has ended" not in caplog.text


def test_an_error_in_the_stream_ends_kopf_and_nothing_else(cluster: Cluster, namespace: str, tmp_path: Path) -> None:
    """The process, its Lease, its server and the watches of children continue, and kopf restarts."""

    async def scenario(environment: KopfEnvironment) -> None:
        resource = TRAINING_JOBS.plural
        environment.proxy.add(
            Rule(StreamError(events=1, code=500), verb="watch", resource=resource, namespace=namespace)
        )
        settings = {
            "TRAINWRIGHT_NAMESPACE": namespace,
            "TRAINWRIGHT_NAMESPACES": namespace,
            "TRAINWRIGHT_RETRY_BASE": "0.05",
            "KUBECONFIG": str(environment.proxy.kubeconfig),
        }
        with operator(cluster, tmp_path / "log", "one", **settings) as one:

            def watches(plural: str) -> int:
                return environment.proxy.sendings.counts["watch", plural, ""]

            await asyncio.to_thread(eventually, lambda: watches(resource) == 1, one)
            await environment.create("a")
            await asyncio.to_thread(eventually, lambda: "kopf has ended: WatchingError" in one.messages(), one)
            await environment.is_looked_at("a")
            await environment.create("b")
            await environment.is_looked_at("b")
            assert [watches(plural) for plural in (resource, "pods", "jobs")] == [2, 1, 1]
            assert one.messages().count("serving on port") == one.messages().count("all is listed") == 1
            lease = await environment.api.request("GET", f"/apis/coordination.k8s.io/v1/namespaces/{namespace}/leases")
            assert lease["items"][0]["spec"]["leaseTransitions"] <= 1
            assert await asyncio.to_thread(one.terminate) == 0

    run_scenario(cluster, namespace, tmp_path, scenario)


def test_a_job_whose_end_kopf_is_not_reported_is_forgotten(cluster: Cluster, namespace: str, tmp_path: Path) -> None:
    async def scenario(environment: KopfEnvironment) -> None:
        environment.proxy.add(Rule(Drop(types=("DELETED",)), verb="watch", resource=TRAINING_JOBS.plural, times=None))
        async with environment.operating(resync=2.0) as running:
            for name in ("stays", "goes"):
                await environment.create(name)
                await environment.is_looked_at(name)
            await environment.api.request("DELETE", TRAINING_JOBS.path(namespace, "goes"))

            async def seen() -> Any:
                keys = [key for key, _ in running.view.jobs.store.items()]
                return keys, environment.metrics.registry.get_sample_value("trainwright_jobs", {"phase": "Suspended"})

            await until(seen, lambda found: found == ([(namespace, "stays")], 1), seconds=SECONDS, what="one job")

    run_scenario(cluster, namespace, tmp_path, scenario)
