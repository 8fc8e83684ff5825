"""Simulates the Job controller for Jobs without retries (backoffLimit 0, restartPolicy Never), the only ones here."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from testkit.api import ApiError, Manifest, condition
from testkit.api.resource import JOBS, PODS
from testkit.simulators import job_status, kueue, pod_status
from testkit.simulators.children import INDEX, is_finished
from testkit.simulators.mirror import Key, job_uid
from testkit.simulators.scripts import has_room
from testkit.simulators.shared_state import SharedState


class JobController:
    def __init__(self, shared: SharedState) -> None:
        self._shared = shared
        self._since: dict[str, float] = {}

    async def look(self, key: Key) -> float | None:
        job = self._shared.jobs.objects.get(key)
        if job is None or "deletionTimestamp" in job["metadata"] or is_finished(job) or not _plays(job):
            return None
        if kueue.waits_for_kueue(job, self._shared.scripts):
            return None
        pods = self._pods(job)
        if condition(job, "FailureTarget") == "True" or condition(job, "SuccessCriteriaMet") == "True":
            await self._end(job, pods)
        elif job["spec"].get("suspend"):
            await self._suspend(job, pods)
        else:
            if not pods and (left := self._unmade(job)) > 0:
                return left
            await self._drive(job, pods)
        return None

    def _unmade(self, job: Manifest) -> float:
        """Seconds left in which no pod can be created, counted from when the Job was first seen without any."""
        now = asyncio.get_running_loop().time()
        return self._since.setdefault(job["metadata"]["uid"], now) + self._shared.scripts.of(job).unmade - now

    def _pods(self, job: Manifest) -> Sequence[Manifest]:
        return [pod for pod in self._shared.pods.related_to(job["metadata"]["uid"]) if not _is_foreign(pod, job)]

    async def _drive(self, job: Manifest, pods: Sequence[Manifest]) -> None:
        """A pod that has disappeared counts as failed, like one that is being deleted."""
        wanted = job["spec"].get("parallelism", 1)
        if "startTime" not in job.get("status", {}) and wanted <= pod_status.QUOTA:
            pods = [await self._pod(job, index) for index in range(wanted)]
        await self._write(job, job_status.of(job, pods))

    async def _pod(self, job: Manifest, index: int) -> Manifest:
        indexed = job["spec"].get("completionMode") == "Indexed"
        base = f"{job['metadata']['name']}-{index}" if indexed else job["metadata"]["name"]
        extra = {INDEX: str(index)} if indexed else {}
        name = f"{base}-{pod_status.suffix(job['metadata']['uid'], index, job['metadata']['generation'])}"
        pod = pod_status.from_template(job["spec"]["template"], name, pod_status.of(JOBS, job), extra, extra)
        if indexed:
            pod["spec"]["hostname"] = base
        if has_room(self._shared.scripts.of(pod)):
            pod["spec"]["nodeName"] = self._shared.nodes.place(pod["spec"], f"node-of-{name}")
        try:
            made = await self._shared.api.create(PODS, pod, job["metadata"]["namespace"])
        except ApiError as error:
            if error.code != 409:
                raise
            made = await self._shared.api.get(PODS, name, job["metadata"]["namespace"])
        self._shared.pods.put(made)
        return made

    async def _suspend(self, job: Manifest, pods: Sequence[Manifest]) -> None:
        await self._delete(pods)
        await self._write(job, job_status.suspended(job))

    async def _end(self, job: Manifest, pods: Sequence[Manifest]) -> None:
        """Delete the pods that still run; the job ends when none runs."""
        live = [pod for pod in pods if not job_status.has_ended(pod)]
        await self._delete(live)
        await self._write(job, job_status.ended(job, len(live)))

    async def _delete(self, pods: Sequence[Manifest]) -> None:
        for metadata in (pod["metadata"] for pod in pods):
            if "deletionTimestamp" not in metadata:
                await self._shared.api.delete(PODS, metadata["name"], metadata["namespace"], uid=metadata["uid"])

    async def _write(self, job: Manifest, status: Manifest) -> None:
        known = job.get("status", {})
        if any(known.get(field) != value for field, value in status.items()):
            metadata = job["metadata"]
            changed = await self._shared.api.patch(
                JOBS,
                metadata["name"],
                metadata["namespace"],
                {
                    "metadata": {"uid": metadata["uid"], "resourceVersion": metadata["resourceVersion"]},
                    "status": status,
                },
                "status",
            )
            self._shared.jobs.put(changed)


def _plays(job: Manifest) -> bool:
    """True for our Jobs and for KubeRay's submitters."""
    return bool(job_uid(job)) or "ray.io/originated-from-cr-name" in job["metadata"].get("labels", {})


def _is_foreign(pod: Manifest, job: Manifest) -> bool:
    return all(owner["uid"] != job["metadata"]["uid"] for owner in pod["metadata"].get("ownerReferences", ()))
