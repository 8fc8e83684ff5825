"""Jobs that compete for room on one node: each that fits alone gets its turn, in any order of scheduling.

The node, its scheduler and KubeRay are simulated in memory, in steps of a second. The decisions are the operator's.
"""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from itertools import pairwise

import pytest

from trainwright_operator.informer.trim import StoredJob, strip_job
from trainwright_operator.model import times
from trainwright_operator.model.observed import Child, Pod, Waiting

from .simulation import SPEC, START, Cluster

RAY = {"type": "ray", "trainer": {"num_workers": 1}}
CORES = 1.75
"""The part of the node's two cores that the cluster itself leaves free."""
ASKED = {"head": 0.25, "worker": 1.0, "submitter": 0.1}
NEVER = 99.0
CLUSTER_STARTS, TRAINING, POD_LEAVES = 8, 45, 30
"""In seconds."""


@dataclass
class OneNode:
    """A node, with jobs that were created one second after the other."""

    draw: random.Random
    jobs: list[Cluster] = field(default_factory=list)
    too_large: set[str] = field(default_factory=set)
    leaving: dict[str, datetime] = field(default_factory=dict)
    ready: dict[str, datetime] = field(default_factory=dict)
    seen: dict[str, object] = field(default_factory=dict)
    due: dict[str, datetime | None] = field(default_factory=dict)
    waiting: dict[str, Waiting] = field(default_factory=dict)
    now: datetime = START

    def add(self, *, too_large: bool = False, backend: object = RAY, **spec: object) -> Cluster:
        name = f"job-{len(self.jobs)}"
        if too_large:
            backend = {"type": "ray", "trainer": {"num_workers": 1, "resources_per_worker": {"CPU": NEVER}}}
        job = Cluster(spec={**SPEC, "backend": backend, **spec}, name=name, uid=f"{len(self.jobs):08x}-0000")
        job.now = START
        self.jobs.append(job)
        if too_large:
            self.too_large.add(job.uid)
        return job

    def run(self, seconds: int) -> None:
        for _ in range(seconds):
            self.now += timedelta(seconds=1)
            for job in self.draw.sample(self.jobs, len(self.jobs)):
                self._look_at(job)
            self._step()

    def _look_at(self, job: Cluster) -> None:
        """Run passes, as the operator does, if a child or pod of the job has changed or its wake-up time has come."""
        job.now = self.now
        seen = (tuple(job.children.values()), tuple(job.pods.values()))
        due = self.due.get(job.uid)
        if seen != self.seen.get(job.uid) or (due is not None and self.now >= due):
            job.waiting = tuple(sorted(self.waiting.values()))
            job.others_stopping = any(self._is_leaving(other) for other in self.jobs if other is not job)
            job.settle()
            self.due[job.uid] = job.decide().wake_at
            self.seen[job.uid] = (tuple(job.children.values()), tuple(job.pods.values()))
            self.waiting.pop(job.uid, None)
            if found := _stored(job).waiting:
                self.waiting[job.uid] = found

    def _is_leaving(self, job: Cluster) -> bool:
        return any(name in self.leaving for name in job.pods)

    def _step(self) -> None:
        for job in self.jobs:
            self._pods_leave(job)
            for child in tuple(job.children.values()):
                self._make_pods(job, child)
        self._schedule()
        for job in self.jobs:
            for child in tuple(job.children.values()):
                self._go_on(job, child)

    def _make_pods(self, job: Cluster, child: Child) -> None:
        """Create pods as KubeRay and the Job controller do. The submitter follows when the RayCluster is ready."""
        roles = ["head", "worker"] if child.kind == "RayJob" else ["worker"]
        if child.kind == "RayJob" and self._since_ready(job, child, roles) >= CLUSTER_STARTS:
            roles.append("submitter")
        for role in roles if child.state == "pending" else ():
            name = f"{child.name}-{role}"
            if name not in job.pods:
                uid, attempt = job.uid, child.attempt
                job.pods[name] = Pod("default", name, name, uid, attempt, None, "Pending", child.stage)

    def _since_ready(self, job: Cluster, child: Child, roles: Iterable[str]) -> float:
        pods = [job.pods.get(f"{child.name}-{role}") for role in roles]
        if not all(pod is not None and pod.node for pod in pods):
            return -1
        return (self.now - self.ready.setdefault(child.name, self.now)).total_seconds()

    def _pods_leave(self, job: Cluster) -> None:
        for name, pod in tuple(job.pods.items()):
            alive = any(name.startswith(child.name) and child.state != "succeeded" for child in job.children.values())
            if not alive:
                gone = self.leaving.setdefault(name, self.now + timedelta(seconds=POD_LEAVES if pod.node else 0))
                if self.now >= gone:
                    del job.pods[name]

    def _schedule(self) -> None:
        waiting = [(job, pod) for job in self.jobs for pod in job.pods.values() if not pod.node]
        for job, pod in self.draw.sample(waiting, len(waiting)):
            fits = self._used() + self._asked(pod) <= CORES + 1e-9
            placed = {"node": "node-1", "scheduled": self.now, "phase": "Running", "unschedulable": ""}
            refused = {"unschedulable": "0/1 nodes: Insufficient cpu", "unschedulable_since": self.now}
            if fits:
                job.pods[pod.name] = replace(pod, **placed, unschedulable_since=None)
            elif not pod.unschedulable:
                job.pods[pod.name] = replace(pod, **refused)

    def _used(self) -> float:
        return sum(self._asked(pod) for job in self.jobs for pod in job.pods.values() if pod.node)

    def _asked(self, pod: Pod) -> float:
        role = pod.name.rpartition("-")[2]
        return NEVER if role == "worker" and pod.job_uid in self.too_large else ASKED[role]

    def _go_on(self, job: Cluster, child: Child) -> None:
        last = job.pods.get(f"{child.name}-{'submitter' if child.kind == 'RayJob' else 'worker'}")
        if child.state == "pending" and last is not None and last.node:
            job.children[child.name] = replace(child, state="running", started=self.now)
        elif child.state == "running" and (self.now - (child.started or self.now)).total_seconds() >= TRAINING:
            job.children[child.name] = replace(child, state="succeeded", finished=self.now)


def _stored(job: Cluster) -> StoredJob:
    """Return the job as the operator's store keeps it."""
    metadata = {"uid": job.uid, "name": job.name, "creationTimestamp": times.written(START)}
    status = job.status.model_dump(by_alias=True, exclude_none=True)
    return strip_job({"metadata": metadata, "spec": job.spec, "status": status})


def phases(jobs: Iterable[Cluster]) -> Iterator[str | None]:
    return (job.status.phase for job in jobs)


@pytest.mark.parametrize("seed", range(12))
def test_five_jobs_that_each_fit_alone_all_finish(seed: int) -> None:
    node = OneNode(random.Random(seed))
    jobs = [node.add() for _ in range(5)]
    node.run(1000)
    assert list(phases(jobs)) == ["Complete"] * 5
    assert all(job.status.retries is None and job.status.preemptions is None for job in jobs)
    assert all(job.status.requeues is None for job in jobs), "it counts what came before the last start"


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("first", [True, False])
def test_a_gang_that_never_fits_lets_those_pass_that_do(seed: int, first: bool) -> None:
    node = OneNode(random.Random(seed))
    never = [node.add(too_large=True) for _ in range(3)] if first else []
    fits = [node.add(), node.add(backend={"type": "local"})]
    never = never or [node.add(too_large=True) for _ in range(3)]
    node.run(1500)
    assert list(phases(fits)) == ["Complete"] * 2
    assert set(phases(never)) <= {"Queued", "Starting"}
    assert all(job.status.retries is None and job.status.preemptions is None for job in never)


def test_a_gang_that_waits_alone_keeps_its_place_until_its_deadline() -> None:
    """A person may see the waiting job and add a node for it."""
    node = OneNode(random.Random(1))
    job = node.add(too_large=True, startDeadlineSeconds=300)
    node.run(290)
    assert (job.status.attempt, job.status.phase) == (1, "Queued")
    node.run(15)
    (attempt,) = job.status.attempts or []
    assert (attempt.outcome, attempt.reason) == ("stopped", "Unschedulable")
    assert attempt.message == "not all of its pods found room: 0/1 nodes: Insufficient cpu"
    assert job.status.requeues == 1
    node.run(30)
    assert (job.status.attempt, job.status.phase) == (2, "Queued")


def test_the_pauses_of_a_gang_without_room_grow() -> None:
    node = OneNode(random.Random(1))
    job = node.add(too_large=True, startDeadlineSeconds=10, backoffLimit=0, preemptionLimit=0)
    node.run(900)
    attempts = job.status.attempts or []
    read = [(times.read(one.create_time), times.read(one.completion_time)) for one in attempts]
    pauses = [(after[0] - before[1]).total_seconds() for before, after in pairwise(read)]  # type: ignore[operator]
    assert pauses == sorted(pauses)
    assert pauses[0] < 40 < 240 < pauses[-1]
    assert job.status.phase == "Queued"
