"""The operator in the test's own process, with a real API server: its writes, and the writes that it avoids."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any

from testkit.api import Api, Manifest, condition, until, until_object
from testkit.cluster.cluster import Cluster
from testkit.harness.jobs import training_job

from trainwright_operator.controller.operator import Operator
from trainwright_operator.kube.client import Client
from trainwright_operator.kube.connection import Connection
from trainwright_operator.kube.resources import CONFIG_MAPS, JOBS, RAY_JOBS, TRAINING_JOBS, Resource
from trainwright_operator.model import names
from trainwright_operator.settings import Settings

NAME = "flights"
SECONDS = 60.0


class Environment:
    """A namespace, its user with an own client, and operators of this namespace."""

    def __init__(self, cluster: Cluster, namespace: str, api: Api) -> None:
        self.cluster, self.namespace, self.api = cluster, namespace, api
        self.writes: list[str] = []

    @asynccontextmanager
    async def operating(self) -> AsyncIterator[Operator]:
        settings = Settings(namespaces=(self.namespace,), retry_base=0.05, retry_limit=0.3, identity="in-process")
        connection = await Connection.open(str(self.cluster.kubeconfig))
        async with (
            Client(connection, on_response=self._count) as client,
            Operator(client, settings) as operator,
        ):
            yield operator

    def _count(self, method: str, resource: str, status: int, seconds: float) -> None:  # noqa: ARG002
        if method not in ("GET", "WATCH"):
            self.writes.append(f"{method} {resource}")

    async def create(self, resource: Resource, body: Manifest) -> Manifest:
        whole = {"apiVersion": resource.api_version, "kind": resource.kind, **body}
        return await self.api.request("POST", resource.path(self.namespace), whole)

    async def set(self, **spec: Any) -> None:
        path, merge = TRAINING_JOBS.path(self.namespace, NAME), "application/merge-patch+json"
        await self.api.request("PATCH", path, {"spec": spec}, content_type=merge)

    async def job(self, holds: Callable[[Manifest], object], what: str) -> Manifest:
        found: Any = TRAINING_JOBS
        return await until_object(self.api, found, NAME, self.namespace, holds, seconds=SECONDS, what=what)

    async def started(self) -> None:
        async def jobs() -> Manifest:
            return await self.api.request("GET", JOBS.path(self.namespace))

        await until(jobs, lambda seen: len(seen["items"]) == 1, seconds=SECONDS, what="one child")
        await self.job(lambda job: condition(job, "Started") == "True", "the status of a job that was started")


def run_scenario(cluster: Cluster, namespace: str, scenario: Callable[[Environment], Awaitable[None]]) -> None:
    async def whole() -> None:
        async with Api(cluster.kubeconfig) as api:
            await scenario(Environment(cluster, namespace, api))

    asyncio.run(whole())


def stalled(word: str) -> Callable[[Manifest], bool]:
    """True if the job is stalled for this reason."""
    return lambda job: condition(job, "Stalled") == "True" and word in job["status"].get("message", "")


def test_a_job_takes_four_writes_to_start(cluster: Cluster, namespace: str) -> None:
    async def scenario(environment: Environment) -> None:
        async with environment.operating():
            await environment.create(TRAINING_JOBS, training_job(NAME))
            await environment.started()
        assert [write for write in environment.writes if not write.endswith("events")] == [
            "PATCH trainingjobs/status",
            "POST configmaps",
            "POST jobs",
            "PATCH trainingjobs/status",
        ]

    run_scenario(cluster, namespace, scenario)


def test_a_missing_backend_is_ray_where_kuberay_is_installed(cluster: Cluster, namespace: str) -> None:
    async def scenario(environment: Environment) -> None:
        async with environment.operating():
            made = training_job(NAME, backend={"trainer": {"num_workers": 2}})
            await environment.create(TRAINING_JOBS, made)
            job = await environment.job(lambda job: condition(job, "Started") == "True", "a job that was started")
            assert job["status"]["resolved"]["backend"] == "ray"
            path = RAY_JOBS.path(environment.namespace, job["status"]["child"])
            child = await environment.api.request("GET", path)
            assert '"backend":"ray"' in child["metadata"]["annotations"][names.RECORD]

    run_scenario(cluster, namespace, scenario)


def test_an_operator_that_starts_anew_writes_nothing(cluster: Cluster, namespace: str) -> None:
    async def scenario(environment: Environment) -> None:
        async with environment.operating():
            await environment.create(TRAINING_JOBS, training_job(NAME))
            await environment.started()
        environment.writes.clear()
        async with environment.operating() as operator:
            for place in operator.view.jobs.places:
                await operator.view.wait_until_synced(place)
            # A later job is started, so the operator has handled the first one before.
            await environment.create(TRAINING_JOBS, training_job("second", suspend=True))

            async def second() -> Manifest:
                return await environment.api.request("GET", TRAINING_JOBS.path(environment.namespace, "second"))

            await until(second, lambda job: condition(job, "Suspended") == "True", seconds=SECONDS)
        assert [write for write in environment.writes if not write.endswith("events")] == ["PATCH trainingjobs/status"]

    run_scenario(cluster, namespace, scenario)


def test_a_name_that_is_taken_is_reported_and_waited_for(cluster: Cluster, namespace: str) -> None:
    async def scenario(environment: Environment) -> None:
        made = await environment.create(TRAINING_JOBS, training_job(NAME, suspend=True))
        taken = names.common_name(NAME, made["metadata"]["uid"])
        await environment.create(CONFIG_MAPS, {"metadata": {"name": taken}, "data": {"of": "somebody else"}})
        async with environment.operating():
            await environment.set(suspend=False)
            await environment.job(stalled(f"ConfigMap {taken} exists and does not belong to this job"), "a stalled job")
            await environment.api.request("DELETE", CONFIG_MAPS.path(environment.namespace, taken))
            await environment.started()
            await environment.job(
                lambda job: condition(job, "Stalled") == "False", "a job that is not stalled any more"
            )

    run_scenario(cluster, namespace, scenario)


def test_a_pod_template_that_kubernetes_refuses_is_reported_and_can_be_mended(cluster: Cluster, namespace: str) -> None:
    async def scenario(environment: Environment) -> None:
        required = "requiredDuringSchedulingIgnoredDuringExecution"
        nowhere: Manifest = {"affinity": {"nodeAffinity": {required: {"nodeSelectorTerms": []}}}}
        async with environment.operating():
            await environment.create(TRAINING_JOBS, training_job(NAME, podTemplate=nowhere))
            await environment.job(stalled("cannot be created"), "a stalled job")
            await environment.set(podTemplate=None)
            await environment.started()

    run_scenario(cluster, namespace, scenario)
