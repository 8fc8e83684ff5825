"""Simulates a RayJob's cluster as KubeRay creates it: the RayCluster, its head and workers, and the submitter Job."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from testkit.api import ApiError, Manifest, Resource
from testkit.api.resource import JOBS, PODS, RAY_CLUSTERS, RAY_JOBS
from testkit.simulators import children, job_status, pod_status
from testkit.simulators.mirror import Mirror
from testkit.simulators.scripts import has_room
from testkit.simulators.shared_state import SharedState

LONGEST_PREFIX = 50


class RayCluster:
    def __init__(self, shared: SharedState) -> None:
        self._shared = shared

    async def is_ready(self, job: Manifest) -> bool:
        """Create what is missing. True if all pods are ready, because the pods are a gang."""
        wanted = list(_pods(job, await self._made(job)))
        pods = [await self._made_once(PODS, self._shared.pods, pod) for pod in wanted]
        return all(job_status.is_ready(pod) for pod in pods)

    async def submit(self, job: Manifest) -> None:
        await self._made_once(JOBS, self._shared.jobs, _submitter(job))

    async def keep(self, job: Manifest) -> None:
        """Replace a lost worker. A head with restartPolicy Never is not replaced soon enough to matter."""
        cluster = self._shared.ray_clusters.objects.get(_key(job))
        for pod in _pods(job, cluster) if cluster is not None else ():
            if not children.is_head(pod):
                await self._made_once(PODS, self._shared.pods, pod)

    def dashboard_says(self, job: Manifest) -> str:
        """The Ray job's status, derived from the submitter; empty without a head."""
        submitter = self._shared.jobs.objects.get((job["metadata"]["namespace"], job["metadata"]["name"]))
        pods = self._shared.pods.related_to(submitter["metadata"]["uid"]) if submitter else ()
        pod = next(iter(pods), None)
        if pod is None or children.head_of(pod, self._shared.pods) is None:
            return ""
        phase = str(pod.get("status", {}).get("phase"))
        if phase == "Failed" and not _ended_itself(pod):
            return "RUNNING"
        return {"Running": "RUNNING", "Succeeded": "SUCCEEDED", "Failed": "FAILED"}.get(phase, "")

    async def delete(self, job: Manifest) -> None:
        cluster = self._shared.ray_clusters.objects.get(_key(job))
        if cluster is not None and "deletionTimestamp" not in cluster["metadata"]:
            await self._shared.api.delete(RAY_CLUSTERS, _key(job)[1], _key(job)[0])

    async def is_deleted(self, job: Manifest) -> bool:
        """Delete the cluster and the submitter; the garbage collector removes their pods. True once both are gone."""
        await self.delete(job)
        name, namespace = job["metadata"]["name"], job["metadata"]["namespace"]
        if (namespace, name) in self._shared.jobs.objects:
            await self._shared.api.delete(JOBS, name, namespace)
        return _key(job) not in self._shared.ray_clusters.objects and (namespace, name) not in self._shared.jobs.objects

    async def _made(self, job: Manifest) -> Manifest:
        metadata = job["metadata"]
        cluster = {
            "metadata": {
                "name": job["status"]["rayClusterName"],
                "namespace": metadata["namespace"],
                "labels": {**metadata.get("labels", {}), **_origin(job)},
                "annotations": metadata.get("annotations", {}),
                "ownerReferences": [pod_status.reference(pod_status.of(RAY_JOBS, job))],
            },
            "spec": job["spec"]["rayClusterSpec"],
        }
        return await self._made_once(RAY_CLUSTERS, self._shared.ray_clusters, cluster)

    async def _made_once(self, resource: Resource, mirror: Mirror, wanted: Manifest) -> Manifest:
        namespace, name = wanted["metadata"]["namespace"], wanted["metadata"]["name"]
        known = mirror.objects.get((namespace, name))
        if known is not None:
            return known
        if resource is PODS and has_room(self._shared.scripts.of(wanted)):
            wanted["spec"]["nodeName"] = self._shared.nodes.place(wanted["spec"], f"node-of-{name}")
        try:
            made = await self._shared.api.create(resource, wanted, namespace)
        except ApiError as error:
            if error.code != 409:
                raise
            made = await self._shared.api.get(resource, name, namespace)
        mirror.put(made)
        return made


def _key(job: Manifest) -> tuple[str, str]:
    return (job["metadata"]["namespace"], job["status"]["rayClusterName"])


def _ended_itself(pod: Manifest) -> bool:
    """True if the pod was not evicted, preempted or deleted."""
    conditions: Sequence[Manifest] = pod["status"].get("conditions", ())
    return "deletionTimestamp" not in pod["metadata"] and all(one["type"] != "DisruptionTarget" for one in conditions)


def _pods(job: Manifest, cluster: Manifest) -> Iterator[Manifest]:
    spec, name = job["spec"]["rayClusterSpec"], cluster["metadata"]["name"]
    owner = pod_status.of(RAY_CLUSTERS, cluster)
    yield _ray_pod(spec["headGroupSpec"], f"{name[:LONGEST_PREFIX]}-head", owner, "head", "headgroup")
    for group in spec.get("workerGroupSpecs", ()):
        for index in range(group.get("replicas", 1) * group.get("numOfHosts", 1)):
            prefix = f"{name}-{group['groupName']}"[:LONGEST_PREFIX]
            ending = pod_status.suffix(cluster["metadata"]["uid"], group["groupName"], index)
            yield _ray_pod(group, f"{prefix}-worker-{ending}", owner, "worker", group["groupName"])


def _ray_pod(group: Manifest, name: str, owner: Manifest, role: str, group_name: str) -> Manifest:
    labels = {
        "ray.io/is-ray-node": "yes",
        "ray.io/cluster": owner["metadata"]["name"],
        "ray.io/node-type": role,
        "ray.io/group": group_name,
        "ray.io/identifier": f"{owner['metadata']['name'][:LONGEST_PREFIX]}-{role}",
        "app.kubernetes.io/name": "kuberay",
        "app.kubernetes.io/created-by": "kuberay-operator",
    }
    return pod_status.from_template(group["template"], name, owner, labels, {})


def _submitter(job: Manifest) -> Manifest:
    template = job["spec"]["submitterPodTemplate"]
    metadata = template.get("metadata", {})
    marked = {**metadata.get("annotations", {}), children.SUBMITTER: "true"}
    backoff = job["spec"].get("submitterConfig", {}).get("backoffLimit", 2)
    return {
        "metadata": {
            "name": job["metadata"]["name"],
            "namespace": job["metadata"]["namespace"],
            "labels": {**_origin(job), "app.kubernetes.io/created-by": "kuberay-operator"},
            "ownerReferences": [pod_status.reference(pod_status.of(RAY_JOBS, job))],
        },
        "spec": {
            "backoffLimit": backoff,
            "template": {**template, "metadata": {**metadata, "annotations": marked}},
        },
    }


def _origin(job: Manifest) -> Manifest:
    return {"ray.io/originated-from-cr-name": job["metadata"]["name"], "ray.io/originated-from-crd": "RayJob"}
