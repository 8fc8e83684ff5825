"""Fake nodes, and the effect of their loss on pods. Without any, pods get invented node names."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from testkit.api import Api, Manifest
from testkit.api.resource import NODES, PODS, now
from testkit.simulators.mirror import Mirror

GPU = "nvidia.com/gpu"
UNREACHABLE = "node.kubernetes.io/unreachable"


class Nodes:
    """`prefix` separates the nodes of tests that share a cluster."""

    def __init__(self, api: Api, mirror: Mirror, pods: Mirror, prefix: str) -> None:
        self._api, self.mirror, self._pods, self._prefix = api, mirror, pods, prefix
        self._made: set[str] = set()
        self.lost: set[str] = set()
        """Nodes whose kubelet no longer responds."""

    async def add(
        self, name: str, *, gpus: int = 0, cpus: int = 32, labels: Mapping[str, str] | None = None, resource: str = GPU
    ) -> str:
        """Create a node, ready and with capacity. Returns its full name."""
        full = self._prefix + name
        self._made.add(full)
        await self._api.create(NODES, {"metadata": {"name": full, "labels": dict(labels or {})}})
        room = {"cpu": str(cpus), "memory": "256Gi", "pods": "110"} | ({resource: str(gpus)} if gpus else {})
        await self._api.patch_status(
            NODES, full, None, {"capacity": room, "allocatable": room, "conditions": [_ready("True")]}
        )
        # The API server taints a new node until a controller marks it ready.
        self.mirror.put(await self._api.patch(NODES, full, None, {"spec": {"taints": []}}))
        return full

    async def lose(self, name: str) -> None:
        """Set NotReady, and do the work of the node lifecycle and taint controllers: delete pods, unconfirmed."""
        self.lost.add(name)
        if name in self._made:
            await self._api.patch_status(NODES, name, None, {"conditions": [_ready("Unknown")]})
            taints = [{"key": UNREACHABLE, "effect": effect} for effect in ("NoSchedule", "NoExecute")]
            await self._api.patch(NODES, name, None, {"spec": {"taints": taints}})

    async def restore(self, name: str) -> None:
        """The kubelet responds again."""
        self.lost.discard(name)
        if name in self._made:
            await self._api.patch_status(NODES, name, None, {"conditions": [_ready("True")]})
            await self._api.patch(NODES, name, None, {"spec": {"taints": []}})

    async def remove(self, name: str) -> None:
        """Remove the node, with the work of the pod garbage collector: its pods are removed."""
        await self._api.delete(NODES, name)
        self._made.discard(name)
        for pod in self.pods_on(name):
            metadata = pod["metadata"]
            await self._api.delete(PODS, metadata["name"], metadata["namespace"], grace=0, uid=metadata["uid"])

    async def remove_all(self) -> None:
        for name in sorted(self._made):
            await self._api.delete(NODES, name)

    def pods_on(self, name: str) -> Sequence[Manifest]:
        return [pod for pod in self._pods.objects.values() if pod["spec"].get("nodeName") == name]

    def place(self, pod_spec: Manifest, invented: str) -> str:
        """The first of our nodes with enough free GPUs; an invented one if we made none. Empty: no node fits."""
        ours = [node for name, node in sorted(self.mirror.objects.items()) if name[1] in self._made]
        if not ours:
            return invented
        return next((node["metadata"]["name"] for node in ours if self._fits(node, pod_spec)), "")

    def _fits(self, node: Manifest, pod_spec: Manifest) -> bool:
        name = node["metadata"]["name"]
        room = node.get("status", {}).get("allocatable", {})
        live = [
            pod["spec"] for pod in self.pods_on(name) if pod.get("status", {}).get("phase") in ("Pending", "Running")
        ]
        return name not in self.lost and all(
            wanted + sum(devices(spec).get(resource, 0) for spec in live) <= int(room.get(resource, 0))
            for resource, wanted in devices(pod_spec).items()
        )


def devices(pod_spec: Manifest) -> Mapping[str, int]:
    """The extended resources that the pod requests, such as GPUs."""
    found: dict[str, int] = {}
    for container in pod_spec["containers"]:
        for resource, amount in container.get("resources", {}).get("limits", {}).items():
            if "/" in resource:
                found[resource] = found.get(resource, 0) + int(amount)
    return found


def _ready(status: str) -> Manifest:
    reason = {"True": "KubeletReady", "Unknown": "NodeStatusUnknown"}[status]
    times = {"lastHeartbeatTime": now(), "lastTransitionTime": now()}
    return {"type": "Ready", "status": status, "reason": reason, "message": "as the test says", **times}
