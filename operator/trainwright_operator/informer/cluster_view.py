"""The operator's cache of jobs, of their children and pods, and of the nodes."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator, Mapping
from datetime import datetime
from typing import Any

from trainwright_operator.children import RESOURCES, read_child, read_pod
from trainwright_operator.informer.jobs import Jobs, ValidationCache
from trainwright_operator.informer.list_watch import Clock
from trainwright_operator.informer.owners import Owners
from trainwright_operator.informer.reflector import Reflector
from trainwright_operator.informer.store import Key, Store
from trainwright_operator.informer.trim import StoredJob, read_job, strip_node
from trainwright_operator.informer.workload import Workload, read_workload
from trainwright_operator.kube import resources
from trainwright_operator.kube.client import Client
from trainwright_operator.model.names import JOB_UID
from trainwright_operator.model.observed import Child, Held, Job, Manifest, Node, Pod, Snapshot, Waiting
from trainwright_operator.settings import Place, Settings


class ClusterView:
    """The cache of the cluster, complete for a place once `synced` there.

    It calls `on_change` with the key of every job to reconcile.
    """

    def __init__(self, client: Client, settings: Settings, clock: Clock, on_change: Callable[[Key], None]) -> None:
        self._on_change = on_change
        self._validations = ValidationCache(settings.jobs.pod_template)
        self._nodes: tuple[Node, ...] | None = None
        self._waiting: dict[str, Waiting] = {}
        """The jobs that wait for room, by uid."""
        self._held: dict[str, dict[str, Held]] = {}
        """The workers and GPUs of the open attempts, by namespace and the uid of the job."""
        self._crowded: dict[str, str] = {}
        """The namespaces of the jobs that wait for the maximum of their namespace, by uid."""
        self._stopping: dict[Key, str] = {}
        """The pods that are being deleted and still hold their room, with the uid of their job."""
        self._taken: dict[str, Pod] = {}
        """The last essential pod that was evicted and is gone since, by the uid of its job."""
        self.owners = Owners(client.find)
        self.jobs = Jobs(settings, clock, self._job_changed)
        self._children = {
            name: Reflector(
                client,
                resource,
                Store(read_child, _job_uid, self._child_changed),
                settings,
                clock,
                selector=JOB_UID,
            )
            for name, resource in RESOURCES.items()
        }
        self._pods = Reflector(
            client, resources.PODS, Store(read_pod, _job_uid, self._pod_changed), settings, clock, selector=JOB_UID
        )
        self._node_list = Reflector(
            client, resources.NODES, Store(strip_node, _nobody, self._node_changed), settings, clock
        )
        self._workloads = Reflector(
            client, resources.WORKLOADS, Store(read_workload, _child_uid, self._workload_changed), settings, clock
        )
        self._clusterwide = settings.clusterwide
        self._limits_namespaces = settings.policy.limits_namespaces

    @property
    def _reflectors(self) -> tuple[Reflector[Any], ...]:
        always: tuple[Reflector[Any], ...] = (*self._children.values(), self._pods)
        return (*always, self._node_list) if self._clusterwide else always

    async def run(self) -> None:
        """Watch everything except the TrainingJobs, until cancelled. Any other end is a bug."""
        async with asyncio.TaskGroup() as group:
            # No decision needs a Workload, so neither `synced` nor `last_seen` waits for Kueue's API.
            group.create_task(self._workloads.run())
            for reflector in self._reflectors:
                group.create_task(reflector.run())

    def synced(self, place: Place) -> bool:
        """Return True if the cache has the jobs of the place and all that belongs to them."""
        return self.jobs.synced(place) and all(reflector.synced(place) for reflector in self._reflectors)

    async def wait_until_synced(self, place: Place) -> None:
        await self.jobs.wait_until_synced(place)
        for reflector in self._reflectors:
            await reflector.wait_until_synced(place)

    def last_seen(self) -> datetime:
        """Return the time of the last answer to the watch that has waited longest."""
        return min(self.jobs.last_seen, *(reflector.last_seen for reflector in self._reflectors))

    def keys(self, place: Place) -> list[Key]:
        return self.jobs.keys(place)

    def job(self, key: Key) -> Job | None:
        stored = self.jobs.store.get(key)
        return read_job(stored, self._validations.of) if stored is not None else None

    async def follow_owners(self, job: Job) -> None:
        """Read the owners of the job's pods that are not known yet. Raises ApiError."""
        for _, pod in tuple(self._pods.store.owned_by(job.uid)):
            if pod.namespace == job.namespace:
                await self.owners.follow(pod)

    def snapshot(self, job: Job) -> Snapshot:
        children = tuple(self._children_of(job))
        return Snapshot(
            children=children,
            queued={child.uid: words for child in children if (words := self._queued(child))},
            pods=tuple(self._pods_of(job)),
            nodes=self._all_nodes() if self._clusterwide else None,
            waiting=tuple(sorted(self._waiting.values())) if job.uid in self._waiting else (),
            others_waiting=tuple(one for uid, one in self._waiting.items() if uid != job.uid),
            others_crowded=any(at == job.namespace and uid != job.uid for uid, at in self._crowded.items()),
            others_stopping=any(uid != job.uid for uid in self._stopping.values()),
            others=sum((one for uid, one in self._held.get(job.namespace, {}).items() if uid != job.uid), Held()),
            missing_kinds=frozenset(kind for kind, one in self._children.items() if not one.installed),
        )

    def note(self, raw: Manifest) -> None:
        """Store the API server's answer to a write of the operator, so that the next decision sees it."""
        noting = self._by_kind.get(str(raw.get("kind")))
        if noting is not None:
            noting(raw)

    def forget(self, job: Job) -> None:
        """Remove a job that the API server has reported as gone."""
        self.jobs.forget(job)

    @property
    def _by_kind(self) -> Mapping[str, Callable[[Manifest], None]]:
        others = {reflector.resource.kind: reflector.note for reflector in self._reflectors}
        return {resources.TRAINING_JOBS.kind: self.jobs.note, **others}

    def _children_of(self, job: Job) -> Iterator[Child]:
        for reflector in self._children.values():
            for (namespace, _), child in reflector.store.owned_by(job.uid):
                if namespace == job.namespace:
                    yield child

    def _queued(self, child: Child) -> str:
        """Return what the child's Workload waits for, as text."""
        of_child = self._workloads.store.owned_by(child.uid)
        return next((one.words for (namespace, _), one in of_child if namespace == child.namespace), "")

    def _pods_of(self, job: Job) -> Iterator[Pod]:
        for (namespace, _), pod in self._pods.store.owned_by(job.uid):
            admitted = self.owners.admitted(pod)
            if namespace == job.namespace and admitted is not None:
                yield admitted
        taken = self._taken.get(job.uid)
        if taken is not None and (taken.namespace, taken.attempt) == (job.namespace, job.status.attempt):
            yield taken

    def _all_nodes(self) -> tuple[Node, ...]:
        if self._nodes is None:
            self._nodes = tuple(node for _, node in sorted(self._node_list.store.items()))
        return self._nodes

    def _job_changed(self, key: Key, old: StoredJob | None, new: StoredJob | None) -> None:
        if old is not None and (new is None or new.finished):
            self._taken.pop(old.uid, None)
        if old is not None:
            self._waiting.pop(old.uid, None)
            self._crowded.pop(old.uid, None)
            self._held.get(key[0], {}).pop(old.uid, None)
        if new is not None and new.waiting is not None:
            self._waiting[new.uid] = new.waiting
        if new is not None and new.crowded:
            self._crowded[new.uid] = key[0]
        if new is not None and new.held is not None and self._limits_namespaces:
            self._held.setdefault(key[0], {})[new.uid] = new.held
        self._on_change(key)

    def _child_changed(self, key: Key, old: Child | None, new: Child | None) -> None:
        if new is not None:
            self.owners.learn(new.uid, new.job_uid)
        self._part_changed(key, old, new)

    def _pod_changed(self, key: Key, old: Pod | None, new: Pod | None) -> None:
        """Track the pod. Keep the trace of an essential pod that was evicted and is gone before a decision saw that."""
        if old is not None and new is None and old.disrupted and old.essential and self._counts(old):
            self._taken[old.job_uid] = old.trace
        if new is not None and new.deletion_time and new.node and not new.ended:
            self._stopping[key] = new.job_uid
        else:
            self._stopping.pop(key, None)
        self._part_changed(key, old, new)

    def _counts(self, pod: Pod) -> bool:
        """True if the pod is one of a job that is not finished."""
        is_open = any(not job.finished for _, job in self.jobs.store.owned_by(pod.job_uid))
        return is_open and self.owners.known(pod) == "whole"

    def _part_changed(self, key: Key, old: Child | Pod | None, new: Child | Pod | None) -> None:  # noqa: ARG002
        for uid in {part.job_uid for part in (old, new) if part is not None}:
            self._wake(uid)

    def _wake(self, uid: str) -> None:
        for key, _ in self.jobs.store.owned_by(uid):
            self._on_change(key)

    def _workload_changed(self, key: Key, old: Workload | None, new: Workload | None) -> None:
        """Wake the job of the child that owns the Workload."""
        one = new or old
        reflector = self._children.get(one.kind) if one is not None else None
        if one is None or reflector is None:
            return
        child = reflector.store.get((key[0], one.child))
        if child is not None and child.uid == one.child_uid:
            self._wake(child.job_uid)

    def _node_changed(self, key: Key, old: Node | None, new: Node | None) -> None:  # noqa: ARG002
        """Wake jobs with pods on a lost node."""
        self._nodes = None
        if old is not None and old.ready and (new is None or not new.ready):
            for uid in {pod.job_uid for _, pod in self._pods.store.items() if pod.node == old.name and not pod.ended}:
                self._wake(uid)


def _job_uid(part: Child | Pod) -> str:
    return part.job_uid


def _child_uid(workload: Workload) -> str:
    return workload.child_uid


def _nobody(node: Node) -> str:  # noqa: ARG001
    return ""
