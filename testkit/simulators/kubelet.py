"""Simulates kubelets and the components that evict or preempt pods: every pod follows its attempt's script."""

from __future__ import annotations

from testkit.api import ApiError, Manifest
from testkit.api.resource import PODS
from testkit.simulators import children, pod_status
from testkit.simulators.children import has_origin
from testkit.simulators.countdown import Countdown
from testkit.simulators.ending import Ending
from testkit.simulators.mirror import Key
from testkit.simulators.scripts import NeverStart, Script, Succeed
from testkit.simulators.shared_state import SharedState

SECONDS_ALONE = 3.0
"""The time until a worker without its head, or a gang member without the first pod, ends. In production: a minute."""


class Kubelet:
    """Removes pods that are being deleted, unless `hanging` keeps them."""

    def __init__(self, shared: SharedState) -> None:
        self._shared = shared
        self._ending = Ending(shared)
        self._countdown = Countdown()
        self.hanging = False

    async def look(self, key: Key) -> float | None:
        pod = self._shared.pods.objects.get(key)
        if pod is None or not has_origin(pod) or pod["spec"].get("nodeName") in self._shared.nodes.lost:
            return None
        script = self._shared.scripts.of(pod)
        if "deletionTimestamp" in pod["metadata"]:
            return await self._remove(pod, script)
        phase = pod["status"]["phase"]
        if phase == "Pending":
            return await self._start(pod, script)
        return await self._play(pod, script) if phase == "Running" else None

    async def _start(self, pod: Manifest, script: Script) -> float | None:
        if isinstance(script, NeverStart):
            await self._wait_for_ever(pod, script)
            return None
        if (left := self._countdown.left(pod, "Pending", script.pending)) > 0:
            return left
        if not pod["spec"].get("nodeName"):
            return await self._bind(pod)
        await self._write(pod, pod_status.running(pod))
        return None

    async def _bind(self, pod: Manifest) -> float | None:
        """Bind a pod that had no node when it was created."""
        node = self._shared.nodes.place(pod["spec"], "")
        if node:
            metadata = pod["metadata"]
            path = PODS.path(metadata["namespace"], metadata["name"], "binding")
            await self._shared.api.request("POST", path, _binding(metadata["name"], node))
            return None
        if "conditions" not in pod["status"]:
            await self._write(pod, pod_status.unschedulable("0/1 nodes are available: 1 Insufficient nvidia.com/gpu."))
        return 0.1

    async def _wait_for_ever(self, pod: Manifest, script: NeverStart) -> None:
        if "conditions" in pod["status"] or "containerStatuses" in pod["status"]:
            return
        unpullable = script.reason == "ImagePullBackOff"
        status = pod_status.unpullable(pod, script.message) if unpullable else pod_status.unschedulable(script.message)
        await self._write(pod, status)

    async def _play(self, pod: Manifest, script: Script) -> float | None:
        """The first pod follows the attempt's script; in a gang that succeeds, every pod does."""
        if children.is_submitter(pod) and children.head_of(pod, self._shared.pods) is None:
            await self._write(pod, pod_status.ended(pod, 1, "the head is gone"))
            return None
        if not children.is_first(pod) and (children.is_ray_node(pod) or not isinstance(script, Succeed)):
            return await self._give_up(pod) if children.is_left_alone(pod, self._shared.pods) else None
        if not self._ending.is_asked_for(pod, script):
            return None
        if (left := self._countdown.left(pod, "Running", script.after)) > 0:
            return left
        status = await self._ending.status(pod, script)
        if status is not None:
            await self._write(pod, status)
        return None

    async def _give_up(self, pod: Manifest) -> float | None:
        if (left := self._countdown.left(pod, "alone", SECONDS_ALONE)) > 0:
            return left
        await self._write(pod, pod_status.ended(pod, 1, "nobody answers"))
        return None

    async def _remove(self, pod: Manifest, script: Script) -> float | None:
        if self.hanging:
            return None
        if (left := self._countdown.left(pod, "deleting", script.terminating)) > 0:
            return left
        if pod["status"]["phase"] == "Running":
            await self._write(pod, pod_status.ended(pod, pod_status.KILLED))
        metadata = pod["metadata"]
        await self._shared.api.delete(PODS, metadata["name"], metadata["namespace"], grace=0, uid=metadata["uid"])
        self._countdown.forget(pod)
        return None

    async def _write(self, pod: Manifest, status: Manifest) -> None:
        metadata = pod["metadata"]
        changed = {"metadata": {"uid": metadata["uid"]}, "status": status}
        try:
            answer = await self._shared.api.patch(PODS, metadata["name"], metadata["namespace"], changed, "status")
        except ApiError as error:
            if error.code == 422 and "metadata.uid" in str(error):
                return  # it is gone, and a pod that replaces it has its name
            raise
        self._shared.pods.put(answer)


def _binding(pod: str, node: str) -> Manifest:
    return {
        "apiVersion": "v1",
        "kind": "Binding",
        "metadata": {"name": pod},
        "target": {"apiVersion": "v1", "kind": "Node", "name": node},
    }
