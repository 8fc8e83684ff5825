from __future__ import annotations

import asyncio
import logging
from collections import Counter, defaultdict
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

import pytest

from trainwright_api.resource.status import TrainingJobStatus
from trainwright_operator.controller.queue import WorkQueue
from trainwright_operator.controller.reconciler import Reconciler
from trainwright_operator.informer.owners import Owners
from trainwright_operator.kube.client import ApiError
from trainwright_operator.model.names import labels
from trainwright_operator.model.observed import Job, Pod, Snapshot
from trainwright_operator.model.plan import Lookup, Plan
from trainwright_operator.settings import Settings

from ..a_job import child, seen, stored
from ..fake_api import FakeApi, unreachable
from ..fake_time import START, FakeTime, settle
from ..owned import owned_by

KEY = ("team", "flights")
RUNNING = TrainingJobStatus(phase="Running")
CREATES = Plan(create=(child("Job", "flights-1"),), status=RUNNING)


class FakeView:
    def __init__(self, api: FakeApi) -> None:
        self.owners = Owners(api.find)
        self.jobs: dict[tuple[str, str], Job] = {}
        self.pods: list[Pod] = []
        self.noted: list[Mapping[str, Any]] = []
        self.is_synced: defaultdict[str | None, asyncio.Event] = defaultdict(asyncio.Event)

    def job(self, key: tuple[str, str]) -> Job | None:
        return self.jobs.get(key)

    async def follow_owners(self, job: Job) -> None:
        pass

    def snapshot(self, job: Job) -> Snapshot:
        return Snapshot(pods=tuple(pod for pod in self.pods if pod.job_uid == job.uid))

    def note(self, raw: Mapping[str, Any]) -> None:
        self.noted.append(raw)

    def forget(self, job: Job) -> None:
        del self.jobs[job.namespace, job.name]

    def keys(self, place: str | None) -> list[tuple[str, str]]:
        return [key for key in self.jobs if place in (None, key[0])]

    async def wait_until_synced(self, place: str | None) -> None:
        await self.is_synced[place].wait()


class FakeQueue:
    """A queue that records its calls."""

    depth = 0

    def __init__(self) -> None:
        self.asked: list[str] = []
        self.due: datetime | None = None

    def add(self, key: tuple[str, str]) -> None:  # noqa: ARG002
        self.asked.append("add")

    def add_at(self, key: tuple[str, str], when: datetime) -> None:  # noqa: ARG002
        self.asked.append("add_at")
        self.due = when

    def retry(self, key: tuple[str, str], at_least: float = 0.0) -> float:  # noqa: ARG002
        self.asked.append(f"retry {at_least:g}")
        return at_least

    def forget(self, key: tuple[str, str]) -> None:  # noqa: ARG002
        self.asked.append("forget")


class FakeObserver:
    def __init__(self) -> None:
        self.failures: list[str] = []
        self.phases: Mapping[str, int] = {}

    def passed(self, seconds: float) -> None:
        assert seconds >= 0

    def failed(self, reason: str) -> None:
        self.failures.append(reason)

    def queued(self, depth: int) -> None:
        assert depth == 0

    def jobs(self, by_phase: Mapping[str, int]) -> None:
        self.phases = dict(by_phase)

    def retried(self, outcome: str) -> None:
        self.failures.append(outcome)


class ReconcilerEnvironment:
    """One job, and a reconciler whose plans the test sets."""

    def __init__(self) -> None:
        self.api, self.queue, self.observer = FakeApi(), FakeQueue(), FakeObserver()
        self.view = FakeView(self.api)
        self.plans: list[Plan | Exception] = []
        self.snapshots: list[Snapshot] = []
        self.raw = stored(self.api)
        self.view.jobs[KEY] = seen(self.raw)
        self.leads = True
        self.reconciler = self.with_queue(self.queue)

    def with_queue(self, queue: Any, *namespaces: str) -> Reconciler:
        view: Any = self.view
        api: Any = self.api
        return Reconciler(
            api,
            view,
            queue,
            Settings(concurrency=2, resync=100, namespaces=namespaces),
            FakeTime().now,
            self.decide,
            observer=self.observer,
            leading=lambda: self.leads,
        )

    def decide(self, job: Job, snapshot: Snapshot, now: datetime) -> Plan:  # noqa: ARG002
        self.snapshots.append(snapshot)
        plan = self.plans.pop(0) if self.plans else Plan()
        if isinstance(plan, Exception):
            raise plan
        return plan

    async def look(self, *plans: Plan | Exception) -> None:
        self.plans = list(plans)
        await self.reconciler.reconcile(KEY)

    def refusing(self, status: int, **more: Any) -> None:
        def fault(verb: str, what: str) -> None:
            if verb == "create" and what.startswith("Job"):
                raise ApiError(status, "Bad", "no", **more)

        self.api.fault = fault


Scenario = Callable[[ReconcilerEnvironment], Awaitable[None]]


def run_scenario(scenario: Scenario) -> None:
    async def whole() -> None:
        await scenario(ReconcilerEnvironment())

    asyncio.run(whole())


def test_a_pass_carries_out_the_plan_and_looks_again_in_time() -> None:
    async def scenario(environment: ReconcilerEnvironment) -> None:
        await environment.look(CREATES)
        assert environment.api.names("Job") == ["flights-1"]
        assert environment.queue.asked == ["forget", "add_at"]
        assert environment.queue.due is not None
        assert timedelta(seconds=90) <= environment.queue.due - START <= timedelta(seconds=110)
        assert environment.observer.phases == {"Pending": 1}

    run_scenario(scenario)


def test_it_looks_earlier_where_the_plan_says_so() -> None:
    async def scenario(environment: ReconcilerEnvironment) -> None:
        await environment.look(Plan(wake_at=START + timedelta(seconds=5)))
        assert environment.queue.due == START + timedelta(seconds=5)

    run_scenario(scenario)


def test_of_a_job_that_is_gone_nothing_is_kept() -> None:
    async def scenario(environment: ReconcilerEnvironment) -> None:
        await environment.look()
        environment.view.jobs.clear()
        environment.queue.asked.clear()
        await environment.look()
        assert environment.queue.asked == ["forget"]
        assert environment.observer.phases == {"Pending": 0}

    run_scenario(scenario)


def test_a_child_that_is_missed_is_asked_for() -> None:
    async def scenario(environment: ReconcilerEnvironment) -> None:
        await environment.look(Plan(lookups=(Lookup("child", "flights-1", "Job"),)), Plan())
        assert environment.snapshots[1].gone == {"flights-1"}
        assert environment.snapshots[1].fresh == frozenset()

    run_scenario(scenario)


@pytest.mark.parametrize(("uid", "found"), [("uid-of-flights", True), ("another", False)])
def test_a_child_that_is_found_joins_the_world_where_it_is_ours(uid: str, found: bool) -> None:
    name = f"flights-{uid[:8]}-1-train"

    async def scenario(environment: ReconcilerEnvironment) -> None:
        one = child("Job", name, uid)
        one["metadata"] |= {"creationTimestamp": "2026-11-01T12:00:00Z"}
        environment.api.add(one)
        await environment.look(Plan(lookups=(Lookup("child", name, "Job"),)), Plan())
        assert [seen.name for seen in environment.snapshots[1].children] == ([name] if found else [])
        assert environment.snapshots[1].gone == (set() if found else {name})
        assert environment.snapshots[1].fresh == ({name} if found else set())
        assert [raw["metadata"]["name"] for raw in environment.view.noted] == [name], "else its end wakes no job"

    run_scenario(scenario)


def test_pods_that_are_asked_for_are_those_of_now_and_traces_of_what_was_taken() -> None:
    async def scenario(environment: ReconcilerEnvironment) -> None:
        uid = environment.raw["metadata"]["uid"]
        there = {"name": "there", "namespace": "team", "labels": labels("flights", uid, 1, "train")}
        owners = owned_by("TrainingJob", "flights", uid)
        environment.api.add({"kind": "Pod", "metadata": {**there, "ownerReferences": owners}})
        gone = Pod("team", "gone", "uid-of-gone", uid, 1, "node-1", "Running")
        taken = replace(gone, name="taken", disrupted="PreemptionByScheduler")
        environment.view.pods = [gone, taken]
        await environment.look(Plan(lookups=(Lookup("pods"),)), Plan())
        assert environment.api.requests == [f"list Pod/trainwright.dev/job-uid={uid}"]
        assert environment.snapshots[1].pods_fresh
        assert [(pod.name, pod.phase) for pod in environment.snapshots[1].pods] == [
            ("there", "Pending"),
            ("taken", "Failed"),
        ]
        assert [(raw["kind"], raw["metadata"]["name"]) for raw in environment.view.noted] == [("Pod", "there")]

    run_scenario(scenario)


def test_a_pod_that_only_bears_the_label_of_a_job_is_none_of_its_pods() -> None:
    async def scenario(environment: ReconcilerEnvironment) -> None:
        uid = environment.raw["metadata"]["uid"]
        metadata = {"name": "x", "namespace": "team", "labels": labels("flights", uid, 1, "train")}
        environment.api.add({"kind": "Pod", "metadata": metadata})
        await environment.look(Plan(lookups=(Lookup("pods"),)), Plan())
        assert environment.snapshots[1].pods == ()

    run_scenario(scenario)


def test_what_is_in_use_is_counted_in_the_whole_cluster() -> None:
    async def scenario(environment: ReconcilerEnvironment) -> None:
        for name in ("one", "two"):
            gpu = {"resources": {"requests": {"gpu": "2"}}}
            pod = {"kind": "Pod", "metadata": {"name": name, "namespace": name}}
            environment.api.add({**pod, "spec": {"nodeName": "node", "containers": [gpu]}})
        await environment.look(Plan(lookups=(Lookup("in_use"),)), Plan())
        assert environment.snapshots[1].in_use is not None
        # The fake returns a first page for each pod, which discards the pages before it.
        assert environment.snapshots[1].in_use["node"]["gpu"] == 2.0

    run_scenario(scenario)


def test_what_is_in_use_may_be_an_earlier_answer_without_the_job_itself() -> None:
    async def scenario(environment: ReconcilerEnvironment) -> None:
        uid = environment.raw["metadata"]["uid"]
        container = {"resources": {"requests": {"gpu": "2"}}}

        def add(name: str, namespace: str) -> None:
            metadata = {"name": name, "namespace": namespace, "labels": labels("flights", uid, 1, "train")}
            environment.api.add(
                {"kind": "Pod", "metadata": metadata, "spec": {"nodeName": name, "containers": [container]}}
            )

        add("own", "team")
        await environment.look(Plan(lookups=(Lookup("in_use"),)), Plan())
        add("elsewhere", "another")
        await environment.look(Plan(lookups=(Lookup("in_use", max_age=60),)), Plan())
        await environment.look(Plan(lookups=(Lookup("in_use"),)), Plan())
        assert [sorted(one.in_use or ()) for one in environment.snapshots[1::2]] == [[], [], ["elsewhere"]]

    run_scenario(scenario)


EVENTS_OF_CHILD = Plan(lookups=(Lookup("events", "flights-1"),))


def test_the_events_of_a_child_say_why_its_pods_are_refused() -> None:
    async def scenario(environment: ReconcilerEnvironment) -> None:
        metadata = {"name": "one", "namespace": "team"}
        environment.api.add({"kind": "Event", "metadata": metadata, "regarding": {"name": "flights-1"}, "note": "no"})
        await environment.look(EVENTS_OF_CHILD, Plan())
        assert environment.snapshots[1].pods_refused == "no"

    run_scenario(scenario)


def test_a_decision_that_never_stops_asking_is_a_bug(caplog: pytest.LogCaptureFixture) -> None:
    async def scenario(environment: ReconcilerEnvironment) -> None:
        await environment.look(*[Plan(lookups=(Lookup("child", "flights-1", "Job"),))] * 9)
        assert environment.observer.failures == ["Unexpected"]

    run_scenario(scenario)
    assert "still looks up" in caplog.text


def test_a_job_that_has_changed_is_looked_at_again_at_once_and_then_after_a_pause() -> None:
    async def scenario(environment: ReconcilerEnvironment) -> None:
        environment.api.add(environment.raw)
        await environment.look(Plan(status=RUNNING))
        assert environment.queue.asked == ["add"]
        await environment.look(Plan(status=RUNNING))
        assert environment.queue.asked == ["add", "retry 0"]

    run_scenario(scenario)


def test_after_a_pass_that_went_well_a_change_is_again_the_first() -> None:
    async def scenario(environment: ReconcilerEnvironment) -> None:
        fresh = environment.api.add(environment.raw)
        await environment.look(Plan(status=RUNNING))
        environment.view.jobs[KEY] = replace(seen(fresh))
        await environment.look(Plan())
        environment.api.add(environment.raw)
        await environment.look(Plan(status=RUNNING))
        assert environment.queue.asked == ["add", "forget", "add_at", "add"]

    run_scenario(scenario)


def test_an_api_error_is_tried_again_when_the_server_says() -> None:
    async def scenario(environment: ReconcilerEnvironment) -> None:
        environment.refusing(429, retry_after=7.0)
        await environment.look(CREATES)
        assert environment.queue.asked == ["retry 7"]
        assert environment.observer.failures == ["Bad"]

    run_scenario(scenario)


def test_what_the_server_refuses_for_good_is_written_down_once() -> None:
    async def scenario(environment: ReconcilerEnvironment) -> None:
        environment.refusing(422)
        await environment.look(CREATES, Plan(status=TrainingJobStatus(message="it cannot be created")))
        assert environment.snapshots[1].refused == "Job flights-1 cannot be created: no"
        assert environment.api.stored("TrainingJob", "flights") is not None
        assert environment.view.noted[0]["status"] == {"message": "it cannot be created"}
        assert environment.queue.asked == ["retry 0"]
        assert environment.observer.failures == ["Refused"]

    run_scenario(scenario)


def test_what_is_refused_is_never_acted_on_by_the_second_plan() -> None:
    async def scenario(environment: ReconcilerEnvironment) -> None:
        environment.refusing(422)
        await environment.look(CREATES, CREATES)
        assert environment.api.writes() == ["create Job/flights-1"]
        assert environment.view.noted == []

    run_scenario(scenario)


@pytest.mark.parametrize("plan", [CREATES, Plan(status=RUNNING)])
def test_a_job_that_goes_while_it_is_looked_at_is_no_failure_and_is_forgotten(plan: Plan) -> None:
    async def scenario(environment: ReconcilerEnvironment) -> None:
        environment.api.objects.clear()
        await environment.look(plan)
        assert environment.queue.asked == ["forget"]
        assert environment.view.jobs == {}

    run_scenario(scenario)


def test_a_bug_met_by_one_job_is_logged_with_its_name(caplog: pytest.LogCaptureFixture) -> None:
    async def scenario(environment: ReconcilerEnvironment) -> None:
        await environment.look(KeyError("a bug"))
        assert environment.queue.asked == ["retry 0"]
        assert environment.observer.failures == ["Unexpected"]

    run_scenario(scenario)
    assert "a pass failed unexpectedly" in caplog.text
    assert "a bug" in caplog.text


def test_no_pass_before_all_is_listed_and_every_key_after_that() -> None:
    async def scenario(environment: ReconcilerEnvironment) -> None:
        queue: WorkQueue[tuple[str, str]] = WorkQueue(FakeTime().now)
        queue.add(KEY)
        working = asyncio.create_task(environment.with_queue(queue).run())
        await settle()
        assert environment.snapshots == []
        environment.view.is_synced[None].set()
        await settle()
        assert len(environment.snapshots) == 1
        working.cancel()
        with suppress(asyncio.CancelledError):
            await working

    run_scenario(scenario)


def test_a_namespace_that_cannot_be_listed_holds_up_no_other(caplog: pytest.LogCaptureFixture) -> None:
    async def scenario(environment: ReconcilerEnvironment) -> None:
        deleted = ("deleted", "flights")
        environment.view.jobs[deleted] = replace(environment.view.jobs[KEY], namespace="deleted")
        queue: WorkQueue[tuple[str, str]] = WorkQueue(FakeTime().now)
        working = asyncio.create_task(environment.with_queue(queue, "deleted", "team").run())
        queue.add(deleted)
        queue.add(KEY)
        environment.view.is_synced["team"].set()
        await settle()
        assert len(environment.snapshots) == 1
        environment.view.is_synced["deleted"].set()
        await settle()
        assert len(environment.snapshots) == 2
        working.cancel()
        with suppress(asyncio.CancelledError):
            await working

    with caplog.at_level(logging.INFO):
        run_scenario(scenario)
    assert "all is listed in team: 1 jobs" in caplog.text


def test_passes_that_wait_for_nothing_let_others_run_in_between() -> None:
    async def scenario(environment: ReconcilerEnvironment) -> None:
        turns, passes = [0], Counter[int]()
        environment.observer.queued = lambda _: passes.update(turns)  # type: ignore[method-assign]
        queue: WorkQueue[tuple[str, str]] = WorkQueue(FakeTime().now)
        for number in range(6):
            queue.add(("team", f"gone-{number}"))

        async def other() -> None:
            while True:
                turns[0] += 1
                await asyncio.sleep(0)

        environment.view.is_synced[None].set()
        tasks = [asyncio.create_task(work) for work in (environment.with_queue(queue).run(), other())]
        await settle()
        assert passes.total() == 6
        assert max(passes.values()) <= 2, "one of each worker"
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    run_scenario(scenario)


def test_every_job_of_the_start_is_looked_at_once_and_that_is_reported(caplog: pytest.LogCaptureFixture) -> None:
    async def scenario(environment: ReconcilerEnvironment) -> None:
        environment.view.is_synced[None].set()
        queue: WorkQueue[tuple[str, str]] = WorkQueue(FakeTime().now)
        working = asyncio.create_task(environment.with_queue(queue).run())
        await settle()
        assert "every job has been looked at" not in caplog.text
        for _ in range(2):
            queue.add(KEY)
            await settle()
        assert caplog.text.count("every job has been looked at") == 1
        working.cancel()
        with suppress(asyncio.CancelledError):
            await working

    with caplog.at_level(logging.INFO):
        run_scenario(scenario)


def test_workers_outlive_a_bug_and_a_dead_server(caplog: pytest.LogCaptureFixture) -> None:
    async def scenario(environment: ReconcilerEnvironment) -> None:
        environment.view.is_synced[None].set()
        queue: WorkQueue[tuple[str, str]] = WorkQueue(FakeTime().now, base=1e6, limit=1e6)
        working = asyncio.create_task(environment.with_queue(queue).run())
        environment.plans = [KeyError("a bug"), Plan(status=RUNNING), Plan()]
        for fault in (None, unreachable, None):
            environment.api.fault = fault
            queue.add(KEY)
            await settle()
        assert len(environment.snapshots) == 3
        assert not working.done()
        working.cancel()
        with suppress(asyncio.CancelledError):
            await working

    with caplog.at_level(logging.WARNING):
        run_scenario(scenario)


def test_a_reconciler_without_the_lease_does_nothing() -> None:
    async def scenario(environment: ReconcilerEnvironment) -> None:
        environment.leads = False
        environment.view.is_synced[None].set()
        queue: WorkQueue[tuple[str, str]] = WorkQueue(FakeTime().now)
        queue.add(KEY)
        working = asyncio.create_task(environment.with_queue(queue).run())
        await settle()
        assert (environment.snapshots, queue.depth) == ([], 0)
        working.cancel()
        with suppress(asyncio.CancelledError):
            await working

    run_scenario(scenario)
