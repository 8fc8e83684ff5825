from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import suppress
from datetime import UTC, datetime
from typing import Any

import pytest

from trainwright_operator.informer.cluster_view import ClusterView
from trainwright_operator.informer.jobs import Jobs
from trainwright_operator.informer.store import key_of
from trainwright_operator.kube.client import ApiError, Page
from trainwright_operator.kube.resources import Resource
from trainwright_operator.model.names import ATTEMPT, JOB_UID
from trainwright_operator.model.observed import Held, Job
from trainwright_operator.policy import Policy
from trainwright_operator.settings import Settings

from ..fake_api import FakeApi
from ..owned import owned_by

START = datetime(2026, 11, 1, tzinfo=UTC)
UID = "1c9e2f7a-0000-4000-8000-000000000000"
OTHER = "2d9e2f7a-0000-4000-8000-000000000000"
Json = dict[str, Any]
Scenario = Callable[["ViewedCluster", ClusterView], Awaitable[None]]


class ViewedCluster:
    """A fake client: it lists objects, and yields the events that a test sends."""

    def __init__(self) -> None:
        self.objects: defaultdict[str, list[Json]] = defaultdict(list)
        self.missing: set[str] = set()
        self.forbidden: set[str] = set()
        self.asked: list[tuple[str, str | None, str]] = []
        self.woken: list[tuple[str, str]] = []
        self.version = 100
        self._events: defaultdict[str, asyncio.Queue[Json]] = defaultdict(asyncio.Queue)
        self.jobs: Jobs | None = None
        self.api = FakeApi()
        self.find = self.api.find

    def list_jobs(self, jobs: Jobs) -> None:
        """List the jobs as kopf does when it starts."""
        self.jobs = jobs
        for place in jobs.places:
            there = [raw for raw in self.objects["TrainingJob"] if place in (None, raw["metadata"]["namespace"])]
            jobs.listed(place, map(key_of, there), 100, first=True, last=True)
            for raw in there:
                jobs.on_event(None, raw)

    async def list(
        self, resource: Resource, namespace: str | None = None, *, selector: str = ""
    ) -> AsyncGenerator[Page, None]:
        self.asked.append((resource.kind, namespace, selector))
        if resource.kind in self.missing:
            raise ApiError(404, "NotFound", "no such resource")
        if resource.kind in self.forbidden:
            raise ApiError(403, "Forbidden", "not yours")
        yield Page(self.objects[resource.kind], "100", True)

    async def watch(self, resource: Resource, namespace: str | None = None, **_: Any) -> AsyncGenerator[Json, None]:  # noqa: ARG002
        while True:
            yield await self._events[resource.kind].get()

    async def send(self, kind: str, raw: Json) -> list[tuple[str, str]]:
        """Send an event and return the keys of the jobs that it wakes."""
        self.version += 1
        raw["metadata"]["resourceVersion"] = str(self.version)
        self.woken.clear()
        if raw["kind"] == "TrainingJob" and self.jobs is not None:
            self.jobs.on_event(kind, raw)
        else:
            self._events[raw["kind"]].put_nowait({"type": kind, "object": raw})
        for _ in range(20):
            await asyncio.sleep(0)
        return sorted(self.woken)


def run_scenario(scenario: Scenario, cluster: ViewedCluster, settings: Settings | None = None) -> None:
    async def whole() -> None:
        view = ClusterView(cluster, settings or Settings(), lambda: START, cluster.woken.append)  # type: ignore[arg-type]
        running = asyncio.create_task(view.run())
        cluster.list_jobs(view.jobs)
        try:
            for place in view.jobs.places:
                await view.wait_until_synced(place)
            await scenario(cluster, view)
        finally:
            running.cancel()
            with suppress(asyncio.CancelledError):
                await running

    asyncio.run(whole())


def training_job(name: str = "flights", uid: str = UID, *conditions: Json, namespace: str = "team") -> Json:
    return {
        "apiVersion": "trainwright.dev/v1alpha1",
        "kind": "TrainingJob",
        "metadata": {
            "namespace": namespace,
            "name": name,
            "uid": uid,
            "generation": 1,
            "resourceVersion": "7",
            "creationTimestamp": "2026-11-01T12:00:00Z",
        },
        "spec": {"task": "train"},
        "status": {"conditions": list(conditions)},
    }


def condition(kind: str, status: str) -> Json:
    return {
        "type": kind,
        "status": status,
        "reason": "Because",
        "message": "",
        "lastTransitionTime": "2026-11-01T12:00:00Z",
    }


QUEUED = {**condition("Running", "False"), "reason": "Queued"}


def child(kind: str = "Job", uid: str = UID, namespace: str = "team", attempt: int = 1) -> Json:
    owner = {"apiVersion": "trainwright.dev/v1alpha1", "kind": "TrainingJob", "controller": True, "uid": uid}
    return {
        "kind": kind,
        "metadata": {
            "namespace": namespace,
            "name": f"{kind.lower()}-{uid[:8]}-{attempt}-train",
            "uid": f"uid-{kind}-{attempt}",
            "resourceVersion": "8",
            "labels": {JOB_UID: uid},
            "ownerReferences": [owner],
        },
    }


def pod(name: str, uid: str = UID, node: str = "n1", phase: str = "Running", namespace: str = "team") -> Json:
    """A pod that the job owns."""
    metadata = {"namespace": namespace, "name": name, "uid": f"uid-{name}", "resourceVersion": "9"}
    owners = owned_by("TrainingJob", "flights", uid)
    return {
        "kind": "Pod",
        "metadata": {**metadata, "labels": {JOB_UID: uid}, "ownerReferences": owners},
        "spec": {"nodeName": node},
        "status": {"phase": phase},
    }


def node(name: str = "n1", ready: bool = True, gpus: int = 0) -> Json:
    return {
        "kind": "Node",
        "metadata": {"name": name, "uid": f"uid-{name}", "resourceVersion": "5"},
        "status": {
            "conditions": [{"type": "Ready", "status": str(ready)}],
            "allocatable": {"nvidia.com/gpu": str(gpus)},
        },
    }


def cluster_of(*objects: Json) -> ViewedCluster:
    cluster = ViewedCluster()
    for raw in objects:
        cluster.objects[raw["kind"]].append(raw)
    return cluster


def seen(view: ClusterView) -> Job:
    job = view.job(("team", "flights"))
    assert job is not None
    return job


def test_a_job_is_seen_with_all_that_is_its_own() -> None:
    async def scenario(cluster: ViewedCluster, view: ClusterView) -> None:
        assert view.synced(None)
        assert view.keys(None) == [("team", "flights"), ("team", "other")]
        assert view.job(("team", "none")) is None
        job = seen(view)
        assert job.validation is not None
        snapshot = view.snapshot(job)
        assert [(found.kind, found.attempt) for found in snapshot.children] == [("Job", 1), ("Job", 2), ("RayJob", 3)]
        assert [found.name for found in snapshot.pods] == ["a", "b"]
        assert [found.name for found in snapshot.nodes or ()] == ["n1", "n2"]
        assert snapshot.missing_kinds == frozenset()
        assert view.last_seen() == START
        labelled = [(kind, None, JOB_UID) for kind in ("Job", "RayJob", "Pod")]
        assert cluster.asked == [("Workload", None, ""), *labelled, ("Node", None, "")]

    mine = [child(attempt=2), child(attempt=1), child("RayJob", attempt=3), pod("b"), pod("a")]
    others = [
        child("RayJob", OTHER),
        pod("c", OTHER),
        pod("forged", namespace="elsewhere"),
        child(namespace="elsewhere"),
    ]
    run_scenario(
        scenario, cluster_of(training_job(), training_job("other", OTHER), *mine, *others, node("n2"), node("n1"))
    )


def test_the_pods_of_a_ray_job_are_its_own_once_their_cluster_is_read() -> None:
    async def scenario(cluster: ViewedCluster, view: ClusterView) -> None:
        assert view.snapshot(seen(view)).pods == ()
        await view.follow_owners(seen(view))
        assert [found.name for found in view.snapshot(seen(view)).pods] == ["head"]
        assert cluster.api.requests == ["get RayCluster/ray-abcde", "get RayCluster/theirs"]

    made, head, stray = child("RayJob"), pod("head"), pod("stray")
    head["metadata"]["ownerReferences"] = owned_by("RayCluster", "ray-abcde", "uid-of-cluster")
    stray["metadata"]["ownerReferences"] = owned_by("RayCluster", "theirs", "uid-of-theirs")
    cluster = cluster_of(training_job(), made, head, stray)
    owners = owned_by("RayJob", made["metadata"]["name"], made["metadata"]["uid"])
    for name, uid, above in (("ray-abcde", "uid-of-cluster", owners), ("theirs", "uid-of-theirs", [])):
        metadata = {"namespace": "team", "name": name, "uid": uid, "ownerReferences": above}
        cluster.api.add({"kind": "RayCluster", "metadata": metadata})
    run_scenario(scenario, cluster)


def test_a_child_whose_label_a_user_has_changed_is_still_its_owners() -> None:
    async def scenario(cluster: ViewedCluster, view: ClusterView) -> None:  # noqa: ARG001
        assert [found.attempt for found in view.snapshot(seen(view)).children] == [1]

    changed = child()
    changed["metadata"]["labels"] = {JOB_UID: OTHER}
    run_scenario(scenario, cluster_of(training_job(), changed))


def test_every_job_wakes_once_it_is_listed() -> None:
    async def scenario(cluster: ViewedCluster, view: ClusterView) -> None:  # noqa: ARG001
        assert set(cluster.woken) == {("team", "flights"), ("team", "other")}

    run_scenario(scenario, cluster_of(training_job(), training_job("other", OTHER)))


@pytest.mark.parametrize("part", [child(), child("RayJob"), pod("a")], ids=["Job", "RayJob", "Pod"])
def test_what_a_job_has_started_wakes_it(part: Json) -> None:
    async def scenario(cluster: ViewedCluster, view: ClusterView) -> None:  # noqa: ARG001
        flights = [("team", "flights")]
        assert await cluster.send("ADDED", part) == flights
        assert await cluster.send("MODIFIED", part) == []
        part["metadata"]["deletionTimestamp"] = "2026-11-01T12:00:00Z"
        assert await cluster.send("MODIFIED", part) == flights
        assert await cluster.send("DELETED", part) == flights

    run_scenario(scenario, cluster_of(training_job(), training_job("other", OTHER)))


def workload(owner: Json, message: str) -> Json:
    metadata = {"namespace": "team", "name": "job-flights", "uid": "uid-of-workload", "resourceVersion": "9"}
    owners = owned_by(owner["kind"], owner["metadata"]["name"], owner["metadata"]["uid"])
    pending = {"type": "QuotaReserved", "status": "False", "reason": "Pending", "message": message}
    return {
        "kind": "Workload",
        "metadata": {**metadata, "ownerReferences": owners},
        "status": {"conditions": [pending] if message else []},
    }


@pytest.mark.parametrize("kind", ["Job", "RayJob"])
def test_a_job_sees_what_the_workload_of_its_child_waits_for(kind: str) -> None:
    made = child(kind)

    async def scenario(cluster: ViewedCluster, view: ClusterView) -> None:
        flights, uid = [("team", "flights")], made["metadata"]["uid"]
        assert view.snapshot(seen(view)).queued == {uid: "no quota"}
        assert await cluster.send("MODIFIED", workload(made, "1 more needed")) == flights
        assert view.snapshot(seen(view)).queued == {uid: "1 more needed"}
        assert await cluster.send("MODIFIED", workload(child(kind, OTHER), "no quota")) == []
        assert await cluster.send("MODIFIED", workload(made, "no quota")) == flights
        assert await cluster.send("MODIFIED", workload(made, "")) == flights
        assert view.snapshot(seen(view)).queued == {}

    run_scenario(scenario, cluster_of(training_job(), made, workload(made, "no quota")))


@pytest.mark.parametrize("trouble", ["missing", "forbidden"])
def test_no_job_waits_for_the_api_of_kueue(trouble: str) -> None:
    async def scenario(cluster: ViewedCluster, view: ClusterView) -> None:  # noqa: ARG001
        assert view.synced(None)
        assert view.snapshot(seen(view)).missing_kinds == frozenset()

    cluster = cluster_of(training_job())
    getattr(cluster, trouble).add("Workload")
    run_scenario(scenario, cluster)


def taken(name: str, attempt: int, **labels: str) -> Json:
    """A pod that the scheduler has preempted."""
    found = pod(name)
    found["metadata"]["labels"] |= {ATTEMPT: str(attempt), **labels}
    found["status"]["conditions"] = [{"type": "DisruptionTarget", "status": "True", "reason": "PreemptionByScheduler"}]
    return found


def on_attempt(number: int, *conditions: Json) -> Json:
    job = training_job("flights", UID, *conditions)
    return {**job, "status": {**job["status"], "attempt": number}}


def test_a_pod_that_was_taken_off_its_node_leaves_a_trace_when_it_is_gone() -> None:
    async def scenario(cluster: ViewedCluster, view: ClusterView) -> None:
        await cluster.send("MODIFIED", taken("head", 1))
        assert await cluster.send("DELETED", taken("head", 1)) == [("team", "flights")]
        [trace] = view.snapshot(seen(view)).pods
        assert (trace.name, trace.disrupted, trace.ended) == ("head", "PreemptionByScheduler", True)
        await cluster.send("MODIFIED", on_attempt(2))
        assert view.snapshot(seen(view)).pods == ()

    run_scenario(scenario, cluster_of(on_attempt(1), pod("head")))


@pytest.mark.parametrize(
    ("job", "gone"),
    [
        (on_attempt(1), pod("head")),
        (on_attempt(1), taken("worker", 1, **{"ray.io/node-type": "worker"})),
        (on_attempt(1, condition("Complete", "True")), taken("head", 1)),
    ],
    ids=["deleted by hand", "one of Ray's workers", "of a job that has ended"],
)
def test_other_pods_leave_none(job: Json, gone: Json) -> None:
    async def scenario(cluster: ViewedCluster, view: ClusterView) -> None:
        await cluster.send("DELETED", gone)
        assert view.snapshot(seen(view)).pods == ()

    run_scenario(scenario, cluster_of(job, gone))


def test_a_job_wakes_by_its_own_changes_and_its_end() -> None:
    async def scenario(cluster: ViewedCluster, view: ClusterView) -> None:
        assert await cluster.send("MODIFIED", training_job()) == [("team", "flights")]
        assert await cluster.send("DELETED", training_job()) == [("team", "flights")]
        assert view.job(("team", "flights")) is None
        assert await cluster.send("ADDED", pod("a")) == []

    run_scenario(scenario, cluster_of(training_job()))


def test_a_job_sees_what_the_others_of_its_namespace_hold() -> None:
    def holding(name: str, uid: str, namespace: str = "team", **attempt: Any) -> Json:
        made = training_job(name, uid, namespace=namespace)
        made["spec"] |= {"backend": {"type": "ray"}, "podTemplate": {"resources": {"limits": {"amd.com/gpu": 1}}}}
        resolved = {"workers": 4, "gpus": 2, "workersPerPod": 2}
        made["status"] |= {"attempts": [{"number": 1, **attempt}], "resolved": resolved}
        return made

    async def scenario(cluster: ViewedCluster, view: ClusterView) -> None:
        def others() -> Held:
            job = view.job(("team", "flights"))
            assert job is not None
            return view.snapshot(job).others

        assert others() == Held()
        await cluster.send("MODIFIED", holding("trains", OTHER))
        await cluster.send("ADDED", holding("far", "uid-3", namespace="two"))
        await cluster.send("MODIFIED", holding("flights", UID))
        assert others() == Held(4, 4)
        await cluster.send("MODIFIED", holding("trains", OTHER, completionTime="2026-11-01T13:00:00Z"))
        assert others() == Held()

    cluster = ViewedCluster()
    cluster.objects["TrainingJob"] = [training_job(), training_job("trains", OTHER)]
    run_scenario(scenario, cluster, Settings(policy=Policy(max_gpus_per_namespace=9)))


def test_a_job_that_waits_for_room_sees_all_that_do() -> None:
    async def scenario(cluster: ViewedCluster, view: ClusterView) -> None:
        def found(name: str) -> list[str]:
            job = view.job(("team", name))
            assert job is not None
            return [one.uid for one in view.snapshot(job).waiting]

        assert found("flights") == found("trains") == []
        for name, uid in (("trains", OTHER), ("flights", UID)):
            await cluster.send("MODIFIED", training_job(name, uid, QUEUED))
        assert found("flights") == found("trains") == sorted([UID, OTHER])
        await cluster.send("MODIFIED", training_job("flights", UID, condition("Running", "True")))
        assert (found("flights"), found("trains")) == ([], [OTHER])
        await cluster.send("DELETED", training_job("trains", OTHER, QUEUED))
        await cluster.send("MODIFIED", training_job("flights", UID, QUEUED))
        assert found("flights") == [UID]

    cluster = ViewedCluster()
    cluster.objects["TrainingJob"] = [training_job(), training_job("trains", OTHER)]
    run_scenario(scenario, cluster)


def test_a_job_sees_which_others_wait() -> None:
    async def scenario(cluster: ViewedCluster, view: ClusterView) -> None:
        def found() -> tuple[list[str], bool]:
            job = view.job(("team", "flights"))
            assert job is not None
            snapshot = view.snapshot(job)
            return [one.uid for one in snapshot.others_waiting], snapshot.others_crowded

        crowded = {**condition("Running", "False"), "reason": "NamespaceMaximum"}
        for name, uid, state, seen in (
            ("flights", UID, QUEUED, ([], False)),
            ("flights", UID, crowded, ([], False)),
            ("trains", OTHER, QUEUED, ([OTHER], False)),
            ("trains", OTHER, crowded, ([], True)),
            ("trains", OTHER, condition("Running", "True"), ([], False)),
        ):
            await cluster.send("MODIFIED", training_job(name, uid, state))
            assert found() == seen
        await cluster.send("ADDED", training_job("far", "uid-3", crowded, namespace="two"))
        assert found() == ([], False)

    cluster = ViewedCluster()
    cluster.objects["TrainingJob"] = [training_job(), training_job("trains", OTHER)]
    run_scenario(scenario, cluster)


def test_pods_that_leave_their_node_still_hold_room_and_only_others_wait_for_that() -> None:
    async def scenario(cluster: ViewedCluster, view: ClusterView) -> None:
        def seen() -> tuple[bool, bool]:
            jobs = [view.job(("team", name)) for name in ("flights", "trains")]
            return tuple(view.snapshot(job).others_stopping for job in jobs if job is not None)  # type: ignore[return-value]

        leaving = pod("one")
        leaving["metadata"]["deletionTimestamp"] = "2026-11-01T12:00:00Z"
        assert seen() == (False, False)
        await cluster.send("MODIFIED", leaving)
        assert seen() == (False, True)
        await cluster.send("DELETED", leaving)
        assert seen() == (False, False)

    cluster = ViewedCluster()
    cluster.objects["TrainingJob"] = [training_job(), training_job("trains", OTHER)]
    cluster.objects["Pod"] = [pod("one")]
    run_scenario(scenario, cluster)


def test_what_we_wrote_is_seen_at_once() -> None:
    async def scenario(cluster: ViewedCluster, view: ClusterView) -> None:
        cluster.woken.clear()
        for raw in (training_job(), child(), child("RayJob", attempt=2), pod("a"), {"kind": "ConfigMap"}, {}):
            view.note({**raw, "metadata": {**raw.get("metadata", {}), "resourceVersion": "200"}})
        snapshot = view.snapshot(seen(view))
        assert seen(view).resource_version == "200"
        assert (len(snapshot.children), len(snapshot.pods)) == (2, 1)
        assert cluster.woken == [("team", "flights")] * 4

    run_scenario(scenario, cluster_of(training_job()))


def test_a_new_or_larger_node_is_seen_and_wakes_nobody() -> None:
    """A pod that finds its room then reports that itself."""

    async def scenario(cluster: ViewedCluster, view: ClusterView) -> None:
        assert await cluster.send("ADDED", node("n2")) == []
        assert await cluster.send("MODIFIED", node("n2", gpus=8)) == []
        assert [found.allocatable["nvidia.com/gpu"] for found in view.snapshot(seen(view)).nodes or ()] == [0, 8]
        assert await cluster.send("DELETED", node("n2")) == []
        assert [found.name for found in view.snapshot(seen(view)).nodes or ()] == ["n1"]

    run_scenario(scenario, cluster_of(training_job(), node("n1")))


@pytest.mark.parametrize("kind", ["MODIFIED", "DELETED"])
def test_a_lost_node_wakes_the_jobs_whose_pods_are_on_it(kind: str) -> None:
    async def scenario(cluster: ViewedCluster, view: ClusterView) -> None:  # noqa: ARG001
        assert await cluster.send(kind, node("n1", ready=False)) == [("team", "flights")]

    ended, elsewhere = pod("b", OTHER, phase="Succeeded"), pod("c", OTHER, node="n2")
    jobs = (training_job(), training_job("other", OTHER))
    run_scenario(scenario, cluster_of(*jobs, pod("a"), ended, elsewhere, node("n1"), node("n2")))


def test_without_kuberay_there_are_no_ray_jobs() -> None:
    async def scenario(cluster: ViewedCluster, view: ClusterView) -> None:  # noqa: ARG001
        assert view.snapshot(seen(view)).missing_kinds == {"RayJob"}

    cluster = cluster_of(training_job())
    cluster.missing.add("RayJob")
    run_scenario(scenario, cluster)


def test_with_namespaces_only_they_are_looked_at_and_no_nodes() -> None:
    async def scenario(cluster: ViewedCluster, view: ClusterView) -> None:
        assert view.synced("team")
        assert view.synced("two")
        assert view.snapshot(seen(view)).nodes is None
        assert {(kind, namespace) for kind, namespace, _ in cluster.asked} == {
            (kind, namespace) for kind in ("Workload", "Job", "RayJob", "Pod") for namespace in ("team", "two")
        }

    run_scenario(scenario, cluster_of(training_job()), Settings(namespaces=("team", "two")))


def test_nothing_is_synced_before_everything_is() -> None:
    async def scenario() -> None:
        cluster = cluster_of(training_job())
        view = ClusterView(cluster, Settings(), lambda: START, cluster.woken.append)  # type: ignore[arg-type]
        assert not view.synced(None)
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(view.wait_until_synced(None), 0.01)

    asyncio.run(scenario())
