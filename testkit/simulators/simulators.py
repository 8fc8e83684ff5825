"""All simulators on one cluster, or in one of its namespaces."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from types import TracebackType
from typing import Self

from testkit.api import Api, Manifest
from testkit.simulators.job_controller import JobController
from testkit.simulators.kubelet import Kubelet
from testkit.simulators.kuberay import KubeRay
from testkit.simulators.kueue import Kueue
from testkit.simulators.loop import Loop
from testkit.simulators.mirror import Listener, Mirror, job_uid, key_of
from testkit.simulators.scripts import Scripts
from testkit.simulators.shared_state import Posts, SharedState


class Simulators:
    """Runs inside its `async with` block. An error of a simulator cancels the block and is raised.

    Without `pods`, KubeRay only sets the statuses of RayJobs by the script's times: for a thousand jobs.
    `kuberay_finalizer` puts KubeRay's finalizer on RayJobs, as the real one does. `posts`: the way trainers report, by
    default without the operator's endpoint.
    """

    def __init__(
        self,
        api: Api,
        namespace: str | None = None,
        scripts: Scripts | None = None,
        *,
        pods: bool = True,
        kuberay_finalizer: bool = False,
        posts: Callable[[Api], Posts] = Posts,
    ) -> None:
        self.shared = shared = SharedState.of(api, namespace, scripts or Scripts(), posts)
        self.scripts, self.record, self.posts, self.nodes = shared.scripts, shared.record, shared.posts, shared.nodes
        self.kubelet = Kubelet(shared)
        self._job_controller, self._kueue = JobController(shared), Kueue(shared)
        self._kuberay = KubeRay(shared, pods=pods, finalizer=kuberay_finalizer)
        self._loops = self._wired()
        self._group = asyncio.TaskGroup()
        self._watching: list[asyncio.Task[None]] = []

    async def __aenter__(self) -> Self:
        await self._group.__aenter__()
        self._watching = [self._group.create_task(mirror.run()) for mirror in self.shared.mirrors]
        for loop in self._loops:
            self._group.create_task(loop.run())
        for mirror in self.shared.mirrors:
            await mirror.synced.wait()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for task in self._watching:
            task.cancel()
        for loop in self._loops:
            loop.stop()
        cancelled = isinstance(error, asyncio.CancelledError)
        # The block's own error is raised unchanged; a simulator's error has cancelled the block, and the group raises
        # it.
        await self._group.__aexit__(*((kind, error, trace) if cancelled else (None, None, None)))
        await self.nodes.remove_all()

    def _wired(self) -> list[Loop]:
        """Connect each change to the queues that handle it."""
        shared = self.shared
        jobs, ray_jobs = Loop(self._job_controller.look), Loop(self._kuberay.look)
        pods, queued = Loop(self.kubelet.look), Loop(self._kueue.look)
        shared.jobs.listeners += [_itself(jobs), _itself(queued), _owner(ray_jobs)]
        shared.ray_jobs.listeners += [_itself(ray_jobs), _itself(queued)]
        shared.pods.listeners += [_itself(pods), _owner(jobs), _related(shared.ray_jobs, ray_jobs)]
        # A submitter waits for the head, and a trainer gets a stop request.
        shared.pods.listeners.append(_related(shared.pods, pods))
        shared.training_jobs.listeners.append(_related(shared.pods, pods))
        shared.ray_clusters.listeners.append(_owner(ray_jobs))
        return [jobs, ray_jobs, pods, queued]


def _itself(loop: Loop) -> Listener:
    return lambda _, seen: loop.wake(key_of(seen))


def _owner(loop: Loop) -> Listener:
    def woken(_: str, seen: Manifest) -> None:
        for owner in seen["metadata"].get("ownerReferences", ()):
            loop.wake((seen["metadata"]["namespace"], owner["name"]))

    return woken


def _related(mirror: Mirror, loop: Loop) -> Listener:
    """Wake all objects of the same TrainingJob."""

    def woken(_: str, seen: Manifest) -> None:
        for other in mirror.related_to(job_uid(seen) or seen["metadata"]["uid"]):
            loop.wake(key_of(other))

    return woken
