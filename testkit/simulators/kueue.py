"""Simulates Kueue: suspends a child before it starts, admits it, and may preempt it. No Workloads are created.

The real Kueue suspends in a webhook, so no one ever sees the child unsuspended. Here the simulators of the children
wait for a mark instead.
"""

from __future__ import annotations

from testkit.api import Manifest
from testkit.api.resource import JOBS, RAY_JOBS
from testkit.simulators.children import is_finished
from testkit.simulators.countdown import Countdown
from testkit.simulators.mirror import Key, job_uid
from testkit.simulators.scripts import Scripts
from testkit.simulators.shared_state import SharedState

MARK = "simulators.trainwright.dev/queue"


class Kueue:
    def __init__(self, shared: SharedState) -> None:
        self._shared = shared
        self._countdown = Countdown()

    async def look(self, key: Key) -> float | None:
        waits = [await self._consider(child) for child in self._children(key)]
        return min((wait for wait in waits if wait is not None), default=None)

    def _children(self, key: Key) -> list[Manifest]:
        mirrors = (self._shared.jobs, self._shared.ray_jobs)
        found = [mirror.objects[key] for mirror in mirrors if key in mirror.objects]
        return [child for child in found if job_uid(child) and not is_finished(child)]

    async def _consider(self, child: Manifest) -> float | None:
        script, state = self._shared.scripts.of(child), _state(child)
        if script.queued is None or "deletionTimestamp" in child["metadata"]:
            return None
        if state == "":
            await self._move(child, "waiting")
            return None
        limit = {"waiting": script.queued, "admitted": script.preempted}.get(state)
        if limit is None:
            return None
        if (left := self._countdown.left(child, state, limit)) > 0:
            return left
        await self._move(child, "admitted" if state == "waiting" else "preempted")
        return None

    async def _move(self, child: Manifest, state: str) -> None:
        mirror = self._shared.ray_jobs if child.get("kind") == "RayJob" else self._shared.jobs
        resource = RAY_JOBS if mirror is self._shared.ray_jobs else JOBS
        metadata = child["metadata"]
        changes = {
            "metadata": {"uid": metadata["uid"], "annotations": {MARK: state}},
            "spec": {"suspend": state != "admitted"},
        }
        mirror.put(await self._shared.api.patch(resource, metadata["name"], metadata["namespace"], changes))


def waits_for_kueue(child: Manifest, scripts: Scripts) -> bool:
    """True if Kueue has not handled the child yet."""
    return bool(job_uid(child)) and scripts.of(child).queued is not None and not _state(child)


def _state(child: Manifest) -> str:
    return str(child["metadata"].get("annotations", {}).get(MARK, ""))
