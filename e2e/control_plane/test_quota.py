"""A real ResourceQuota: all our containers have requests and limits, and a job says which quota refuses its pods."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from ruamel.yaml import YAML
from testkit.api import Api, Manifest, until, until_object
from testkit.api.resource import JOBS, PODS, RAY_JOBS, TRAINING_JOBS, Resource, now
from testkit.cluster.cluster import Cluster
from testkit.cluster.control_plane import ControlPlane
from testkit.control_plane.installed import Installed, installed
from testkit.harness import EVERY_KIND, Kind, training_job
from testkit.simulators import pod_status

QUOTAS = Resource("v1", "resourcequotas", "ResourceQuota")
GUIDE = Path(__file__).parents[2] / "docs" / "operations.md"
QUOTA = {"requests.cpu": "20", "requests.memory": "60Gi", "limits.cpu": "40", "limits.memory": "80Gi"}
"""Room for one job of each kind."""
BY_KUBERAY = (
    'FailedCreateHeadPod\npods "flights-head-p7d2m" is forbidden: exceeded quota: team, requested: limits.cpu=1, '
    "used: limits.cpu=0, limited: limits.cpu=0"
)


@pytest.fixture(scope="module")
def cluster_with_quotas() -> Iterator[Cluster]:
    """With the real controllers of Jobs and of quotas."""
    with ControlPlane(["job-controller", "resourcequota-controller"]) as plane:
        yield Cluster.of(plane)


@pytest.fixture(scope="module")
def operated(cluster_with_quotas: Cluster, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Installed]:
    defaults, folder = json.dumps(defaults_of_the_guide()), tmp_path_factory.mktemp("operator")
    with installed(cluster_with_quotas, folder, "clusterwide.yaml", TRAINWRIGHT_JOBS_POD_TEMPLATE=defaults) as one:
        yield one


def defaults_of_the_guide() -> Any:
    """The defaults for pods in namespaces with quotas, as docs/operations.md shows them."""
    [block] = [
        found for found in re.findall(r"```yaml\n(.*?)```", GUIDE.read_text(), re.DOTALL) if found[:5] == "jobs:"
    ]
    return YAML(typ="safe").load(block)["jobs"]["podTemplate"]


class Namespace:
    """A namespace with a ResourceQuota, and one job in it."""

    def __init__(self, api: Api, name: str) -> None:
        self.api, self.name = api, name

    async def allows(self, hard: Mapping[str, str]) -> None:
        await self.api.apply(QUOTAS, {"metadata": {"name": "team"}, "spec": {"hard": hard}}, "tests", self.name)
        await until_object(self.api, QUOTAS, "team", self.name, lambda seen: seen["status"].get("hard") == hard)

    async def child(self, kind: Kind) -> Manifest:
        """Create a job, and return its first child."""
        await self.api.create(TRAINING_JOBS, training_job("flights", kind), self.name)
        children = JOBS if kind != "ray" else RAY_JOBS
        [found] = await until(self._listed(children), bool, what="the child")
        return found

    async def pods(self, count: int) -> None:
        await until(self._listed(PODS), lambda found: len(found) == count, what=f"{count} pods")

    async def says(self, text: str) -> None:
        await until_object(
            self.api, TRAINING_JOBS, "flights", self.name, lambda seen: seen["status"].get("message") == text, what=text
        )

    def _listed(self, resource: Resource) -> Callable[[], Awaitable[list[Manifest]]]:
        async def look() -> list[Manifest]:
            return (await self.api.list(resource, self.name)).items

        return look


@asynccontextmanager
async def namespace_of(operated: Installed) -> AsyncIterator[Namespace]:
    async with Api(operated.cluster.kubeconfig) as api:
        yield Namespace(api, await api.make_namespace("quota"))


@pytest.mark.parametrize("kind", EVERY_KIND)
def test_a_quota_for_requests_and_limits_admits_every_pod(operated: Installed, kind: Kind) -> None:
    """The Job controller makes the pods of Jobs. Those of a RayJob are made from its templates."""

    async def play() -> None:
        async with namespace_of(operated) as own:
            await own.allows(QUOTA)
            child = await own.child(kind)
            if child["kind"] == "RayJob":
                for number, template in enumerate(ray_templates(child)):
                    pod = pod_status.from_template(template, f"pod-{number}", child, {}, {})
                    await own.api.create(PODS, pod, own.name)
            await own.pods({"local": 1, "gang": 2, "ray": 3, "gpu": 1}[kind])

    asyncio.run(play())


def test_a_job_says_which_quota_refuses_its_pods(operated: Installed) -> None:
    async def play() -> None:
        async with namespace_of(operated) as own:
            await own.allows({**QUOTA, "limits.cpu": "1"})
            name = (await own.child("local"))["metadata"]["name"]
            why = "exceeded quota: team, requested: limits.cpu=4, used: limits.cpu=0, limited: limits.cpu=1"
            await own.says(f"pods of Job {name} cannot be created: {why}")
            await own.allows(QUOTA)
            await own.pods(1)
            await own.says(f"Job {name} is being started")

    asyncio.run(play())


def test_a_ray_job_says_it_too(operated: Installed) -> None:
    """KubeRay does not run here: its condition is written as it writes it."""

    async def play() -> None:
        async with namespace_of(operated) as own:
            await own.allows(QUOTA)
            child = await own.child("ray")
            failure = {
                "type": "ReplicaFailure",
                "status": "True",
                "reason": "FailedCreateHeadPod",
                "message": BY_KUBERAY,
            }
            status = {
                "jobDeploymentStatus": "Initializing",
                "rayClusterStatus": {"conditions": [{**failure, "lastTransitionTime": now()}]},
            }
            name = child["metadata"]["name"]
            await own.api.patch_status(RAY_JOBS, name, own.name, status)
            await own.says(f"pods of RayJob {name} cannot be created: {BY_KUBERAY.partition('forbidden: ')[2]}")

    asyncio.run(play())


def ray_templates(ray_job: Manifest) -> list[Manifest]:
    """Of the head, the workers and the submitter."""
    cluster = ray_job["spec"]["rayClusterSpec"]
    groups = (cluster["headGroupSpec"], *cluster["workerGroupSpecs"])
    return [*(group["template"] for group in groups), ray_job["spec"]["submitterPodTemplate"]]
