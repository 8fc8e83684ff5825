"""The reason of `Queued`, from an object as Kueue writes it."""

from __future__ import annotations

import asyncio

from testkit.api import Manifest
from testkit.api.resource import JOBS, Resource
from testkit.cluster.cluster import Cluster
from testkit.control_plane.installed import WORKLOADS, apply
from testkit.harness import Lifecycle, User, run_lifecycle
from testkit.simulators import RunForever

QUEUED = Resource("kueue.x-k8s.io/v1beta2", "workloads", "Workload")
NO_QUOTA = "couldn't assign flavors to pod set main: insufficient unused quota for cpu in flavor default, 1 more needed"


def test_kubectl_shows_what_the_workload_waits_for(cluster: Cluster) -> None:
    apply(cluster, WORKLOADS)
    cluster.kubectl("wait", "--for=condition=Established", f"crd/{WORKLOADS['metadata']['name']}", "--timeout=60s")
    shown: list[str] = []

    async def waits(user: User) -> None:
        await user.sees("its queue", lambda job: job.get("status", {}).get("phase") == "Queued")
        [child] = (await user.api.list(JOBS, user.namespace)).items
        await user.api.create(QUEUED, _workload(child), user.namespace)
        await user.sees("the reason", lambda job: job["status"]["message"].endswith(f"waits in its queue: {NO_QUOTA}"))
        shown.append(await asyncio.to_thread(cluster.kubectl, "get", "tj", f"-n={user.namespace}", "-o=wide"))
        await user.delete("Background")
        await user.sees_no_job()

    lifecycle = Lifecycle("waits in a queue", [RunForever(queued=3600.0)], waits, {"queueName": "gpus"})
    found = asyncio.run(run_lifecycle(cluster.kubeconfig, lifecycle, "local"))
    assert (list(found.violations), list(found.orphans)) == ([], [])
    assert NO_QUOTA in shown[0]


def _workload(child: Manifest) -> Manifest:
    metadata = child["metadata"]
    owner = {"apiVersion": "batch/v1", "kind": "Job", "name": metadata["name"], "uid": metadata["uid"]}
    pending = {"type": "QuotaReserved", "status": "False", "reason": "Pending", "message": NO_QUOTA}
    return {
        "metadata": {"name": f"job-{metadata['name']}", "ownerReferences": [{**owner, "controller": True}]},
        "status": {"conditions": [pending]},
    }
