"""KubeRay: RayJobs with a cluster of pods, and RayJobs without pods, whose statuses follow from the script's times."""

from __future__ import annotations

from testkit.api import Manifest, condition
from testkit.api.resource import RAY_JOBS
from testkit.simulators import kueue, pod_status, ray_status
from testkit.simulators.countdown import Countdown
from testkit.simulators.mirror import Key
from testkit.simulators.ray_cluster import RayCluster
from testkit.simulators.scripts import Fail, Invalid, NeverStart, StopWhenAsked, Succeed, outcome_of
from testkit.simulators.shared_state import SharedState

FINALIZER = "ray.io/rayjob-finalizer"


class KubeRay:
    def __init__(self, shared: SharedState, *, pods: bool, finalizer: bool) -> None:
        self._shared, self._finalizer = shared, finalizer
        self._cluster = RayCluster(shared)
        self._clock = None if pods else RayClock(shared)

    async def look(self, key: Key) -> float | None:
        job = self._shared.ray_jobs.objects.get(key)
        if job is None or kueue.waits_for_kueue(job, self._shared.scripts):
            return None
        if "deletionTimestamp" in job["metadata"]:
            await self._let_go(job)
            return None
        match job.get("status", {}).get("jobDeploymentStatus", ""):
            case "":
                await self._begin(job)
            case "Initializing" | "Running" if job["spec"].get("suspend"):
                await self._write(job, {"jobDeploymentStatus": "Suspending"})
            case "Initializing" | "Running":
                return await self._drive(job)
            case "Suspending":
                await self._suspend(job)
            case "Suspended" if not job["spec"].get("suspend"):
                await self._write(job, {"jobStatus": "", "jobDeploymentStatus": ""})
            case "Complete" | "Failed" if job["spec"].get("shutdownAfterJobFinishes") and self._clock is None:
                await self._cluster.delete(job)
        return None

    async def _begin(self, job: Manifest) -> None:
        if self._finalizer and FINALIZER not in job["metadata"].get("finalizers", ()):
            await self._finalizers(job, [*job["metadata"].get("finalizers", ()), FINALIZER])
            return
        script = self._shared.scripts.of(job)
        if isinstance(script, Invalid):
            await self._write(job, ray_status.invalid(script.message))
        elif _workers(job) > pod_status.QUOTA:
            await self._write(job, ray_status.invalid("exceeded quota: pods"))
        else:
            await self._write(job, ray_status.initializing(job))

    async def _drive(self, job: Manifest) -> float | None:
        if self._clock is not None:
            status, wait = await self._clock.status(job)
            await self._write(job, status)
            return wait
        if job["status"]["jobDeploymentStatus"] == "Initializing":
            if await self._cluster.is_ready(job):
                await self._cluster.submit(job)
                await self._write(job, {"jobDeploymentStatus": "Running", "dashboardURL": ray_status.dashboard(job)})
            return None
        await self._cluster.keep(job)
        submitter = self._shared.jobs.objects.get((job["metadata"]["namespace"], job["metadata"]["name"]))
        await self._write(job, self._seen(job, submitter))
        return None

    def _seen(self, job: Manifest, submitter: Manifest | None) -> Manifest:
        """The failure of the submitter Job counts first, then the status in Ray's dashboard while the head exists."""
        reported = self._cluster.dashboard_says(job)
        if submitter is not None and condition(submitter, "Failed") == "True":
            if reported == "FAILED":
                return ray_status.failed(job, self._shared.scripts.of(job))
            return ray_status.submission_failed(job, submitter)
        finished = submitter is not None and condition(submitter, "Complete") == "True"
        if reported == "SUCCEEDED" and finished:
            return ray_status.succeeded(job)
        return ray_status.running(reported) if reported and reported != job["status"].get("jobStatus") else {}

    async def _suspend(self, job: Manifest) -> None:
        if self._clock is not None or await self._cluster.is_deleted(job):
            await self._write(job, ray_status.suspended())

    async def _let_go(self, job: Manifest) -> None:
        left = [name for name in job["metadata"].get("finalizers", ()) if name != FINALIZER]
        if len(left) < len(job["metadata"].get("finalizers", ())):
            await self._finalizers(job, left)

    async def _finalizers(self, job: Manifest, finalizers: list[str]) -> None:
        metadata = job["metadata"]
        kept = {"uid": metadata["uid"], "resourceVersion": metadata["resourceVersion"], "finalizers": finalizers}
        changed = {"metadata": kept}
        answer = await self._shared.api.patch(RAY_JOBS, metadata["name"], metadata["namespace"], changed)
        self._shared.ray_jobs.put(answer)

    async def _write(self, job: Manifest, status: Manifest) -> None:
        known = job.get("status", {})
        if all(known.get(field) == value for field, value in status.items()):
            return
        metadata = job["metadata"]
        changed = {
            "metadata": {"uid": metadata["uid"], "resourceVersion": metadata["resourceVersion"]},
            "status": status,
        }
        answer = await self._shared.api.patch(RAY_JOBS, metadata["name"], metadata["namespace"], changed, "status")
        self._shared.ray_jobs.put(answer)


def _workers(job: Manifest) -> int:
    groups = job["spec"]["rayClusterSpec"].get("workerGroupSpecs", ())
    return sum(group.get("replicas", 1) * group.get("numOfHosts", 1) for group in groups)


class RayClock:
    def __init__(self, shared: SharedState) -> None:
        self._shared = shared
        self._countdown = Countdown()

    async def status(self, job: Manifest) -> tuple[Manifest, float | None]:
        """The status to write, and the seconds until the next look."""
        script, state = self._shared.scripts.of(job), job["status"]["jobDeploymentStatus"]
        if isinstance(script, NeverStart):
            return {}, None
        limit = script.pending if state == "Initializing" else script.after
        if (left := self._countdown.left(job, state, limit)) > 0:
            return {}, left
        if state == "Initializing":
            running = {"jobDeploymentStatus": "Running", "dashboardURL": ray_status.dashboard(job)}
            return {**running, **ray_status.running("RUNNING")}, None
        return await self._end(job), None

    async def _end(self, job: Manifest) -> Manifest:
        match script := self._shared.scripts.of(job):
            case Succeed():
                if script.reported_by == "posted":
                    await self._shared.posts.outcome(job, outcome_of(job, script))
                return ray_status.succeeded(job)
            case Fail():
                if script.reported_by == "posted":
                    await self._shared.posts.outcome(job, outcome_of(job, script))
                return ray_status.failed(job, script)
            case StopWhenAsked():
                raise ValueError("a RayJob without pods cannot be asked to stop")
        return {}
