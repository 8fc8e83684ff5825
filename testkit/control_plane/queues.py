"""A team in real Kueue: its namespace, its ClusterQueue with a quota, and its jobs."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

from testkit.api import Api, Manifest, until
from testkit.api.resource import CHILDREN, NAMESPACES, PODS, TRAINING_JOBS, Resource, now
from testkit.cluster import kueue_objects
from testkit.cluster.kueue_objects import NO_LIMIT, QUEUE, VERSION
from testkit.control_plane.installed import Installed
from testkit.harness import Kind, training_job
from testkit.simulators import Script, Simulators

WORKLOADS = Resource(VERSION, "workloads", "Workload")
LOCAL_QUEUES = Resource(VERSION, "localqueues", "LocalQueue")
CLUSTER_QUEUES = Resource(VERSION, "clusterqueues", "ClusterQueue", namespaced=False)
FLAVORS = Resource(VERSION, "resourceflavors", "ResourceFlavor", namespaced=False)
PRIORITIES = Resource(VERSION, "workloadpriorityclasses", "WorkloadPriorityClass", namespaced=False)
ONE_CPU: Mapping[str, Any] = {"resources": {"requests": {"cpu": "1"}}}


@dataclass(frozen=True)
class Team:
    api: Api
    simulators: Simulators
    namespace: str

    async def submits(self, name: str, *scripts: Script, kind: Kind = "local", **spec: Any) -> None:
        """A job in the team's queue. Its pods ask for one CPU each."""
        self.simulators.scripts.give(self.namespace, name, *scripts)
        asked = {"queueName": QUEUE, "podTemplate": ONE_CPU, **spec}
        await self.api.create(TRAINING_JOBS, training_job(name, kind, **asked), self.namespace)

    async def sees(self, name: str, what: str, holds: Callable[[Manifest], object]) -> Manifest:
        """Wait until `holds` is true of the status of the job."""
        job = await until(
            lambda: self.api.get(TRAINING_JOBS, name, self.namespace),
            lambda seen: holds(seen.get("status", {})),
            what=f"{what} of {name}",
        )
        found: Manifest = job["status"]
        return found

    async def sees_phase(self, name: str, phase: str) -> Manifest:
        return await self.sees(name, phase, lambda status: status.get("phase") == phase)

    async def sees_reason(self, name: str, text: str) -> Manifest:
        """Wait until the job is in its queue, with this text of Kueue's in its message."""
        return await self.sees(
            name, text, lambda status: status.get("phase") == "Queued" and text in status.get("message", "")
        )

    async def deletes(self, name: str) -> None:
        await self.api.delete(TRAINING_JOBS, name, self.namespace)

    async def children(self) -> Sequence[Manifest]:
        return [child for kind in CHILDREN for child in (await self.api.list(kind, self.namespace)).items]

    async def pods(self) -> Sequence[Manifest]:
        return (await self.api.list(PODS, self.namespace)).items

    async def workloads(self) -> Mapping[str, Manifest]:
        """By the kind and the name of the child."""
        found = (await self.api.list(WORKLOADS, self.namespace)).items
        return {"{kind}/{name}".format(**one["metadata"]["ownerReferences"][0]): one for one in found}

    async def next_second(self) -> None:
        """Kueue orders Workloads by their times of creation, which are whole seconds."""
        newest = max(one["metadata"]["creationTimestamp"] for one in (await self.workloads()).values())
        await until(_time, lambda moment: moment > newest)

    async def has_quota(self, quota: Mapping[str, str]) -> None:
        """Change the quota of the ClusterQueue."""
        await self._change(resourceGroups=kueue_objects.groups(quota))

    async def stops(self, policy: str) -> None:
        """The administrator's stop of the ClusterQueue: None, Hold, or HoldAndDrain."""
        await self._change(stopPolicy=policy)

    async def _change(self, **spec: Any) -> None:
        await self.api.patch(CLUSTER_QUEUES, self.namespace, None, {"spec": spec})


@asynccontextmanager
async def team(installed: Installed, quota: Mapping[str, str] = NO_LIMIT) -> AsyncIterator[Team]:
    """A team with this quota; what is not named is plentiful.

    The simulators play the Job controller, KubeRay and the kubelets of the whole cluster.
    """
    async with installed.simulators() as (api, simulators):
        namespace = await api.make_namespace("team")
        made = Team(api, simulators, namespace)
        await api.create(CLUSTER_QUEUES, kueue_objects.cluster_queue(namespace, quota))
        await api.create(LOCAL_QUEUES, kueue_objects.local_queue(namespace), namespace)
        yield made
        await api.delete(NAMESPACES, namespace)


async def furnish(api: Api) -> None:
    """Create what all teams share: a flavor and a class of priority."""
    await api.create(FLAVORS, kueue_objects.flavor())
    await api.create(PRIORITIES, kueue_objects.priority())


async def _time() -> str:
    return now()
