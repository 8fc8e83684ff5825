"""RayJobs without pods: their statuses follow from the script's times alone."""

from __future__ import annotations

import asyncio

from testkit.api import Manifest
from testkit.simulators import ray_status
from testkit.simulators.scripts import Fail, NeverStart, StopWhenAsked, Succeed, outcome_of
from testkit.simulators.shared_state import SharedState


class RayClock:
    def __init__(self, shared: SharedState) -> None:
        self._shared = shared
        self._since: dict[tuple[str, str], float] = {}

    async def status(self, job: Manifest) -> tuple[Manifest, float | None]:
        """The status to write, and the seconds until the next look."""
        script, state = self._shared.scripts.of(job), job["status"]["jobDeploymentStatus"]
        if isinstance(script, NeverStart):
            return {}, None
        limit = script.pending if state == "Initializing" else script.after
        if (left := self._left(job, state, limit)) > 0:
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

    def _left(self, job: Manifest, state: str, seconds: float) -> float:
        now = asyncio.get_running_loop().time()
        return self._since.setdefault((job["metadata"]["uid"], state), now) + seconds - now
