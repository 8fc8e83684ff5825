"""One reconciliation pass of a job: observe, decide, apply. Several workers run passes concurrently.

A pass that fails is retried after a pause, and does not affect other jobs.
"""

from __future__ import annotations

import asyncio
import logging
import random
import time
from collections import defaultdict
from collections.abc import Callable, Iterable
from contextlib import AbstractAsyncContextManager, nullcontext
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

from trainwright_operator import logs
from trainwright_operator.children import read_child, read_pod
from trainwright_operator.controller.apply import Applier, Refused, Stale, Vanished
from trainwright_operator.controller.counts import Counts, Observer
from trainwright_operator.controller.failed_creations import FailedCreations
from trainwright_operator.controller.queue import WorkQueue
from trainwright_operator.informer.cluster_view import ClusterView
from trainwright_operator.kube.client import ApiError, Client
from trainwright_operator.kube.resources import PODS, of_kind
from trainwright_operator.model import names
from trainwright_operator.model.observed import Job, Pod, Snapshot
from trainwright_operator.model.plan import Lookup, Plan
from trainwright_operator.model.refusals import EXCEEDED_QUOTA
from trainwright_operator.policies.in_use import ON_A_NODE, InUse
from trainwright_operator.settings import Place, Settings

Key = tuple[str, str]
Decide = Callable[[Job, Snapshot, datetime], Plan]
ROUNDS = 4
"""The maximum number of times that a pass may request data. A decision must not request the same data again."""
RESYNC_JITTER = 0.1

log = logging.getLogger(__name__)


class Reconciler:
    """Runs the passes. No pass starts once `leading` is false."""

    def __init__(
        self,
        client: Client,
        view: ClusterView,
        queue: WorkQueue[Key],
        settings: Settings,
        clock: Callable[[], datetime],
        decide: Decide,
        *,
        observer: Observer,
        leading: Callable[[], bool] = lambda: True,
    ) -> None:
        self._client, self._view, self._queue, self._settings, self._clock = client, view, queue, settings, clock
        self._observer, self._leading, self._decides = observer, leading, decide
        self._counts = Counts(observer)
        self._failed_creations = FailedCreations(client, clock)
        self._applier = Applier(client, view.note, clock, settings.identity)
        self._locks: defaultdict[str, asyncio.Lock] = defaultdict(asyncio.Lock)
        """One lock for each namespace, where the policy limits what its jobs hold together."""
        self._stale: set[Key] = set()
        """The jobs whose last pass saw an old state."""
        self._begun: set[Place] = set()
        """The places that the informer has listed: passes run there."""
        self._early: set[Key] = set()
        """The jobs that were queued before that."""
        self._unseen: set[Key] = set()
        """The jobs that existed at the start and have not been reconciled yet."""
        self._in_use: tuple[datetime, InUse] | None = None
        """What the pods on the nodes last requested, and when."""

    async def run(self) -> None:
        """Run the workers for ever. A namespace that cannot be listed, such as a deleted one, holds up no other."""
        async with asyncio.TaskGroup() as group:
            group.create_task(self._applier.recorder.run())
            for place in self._settings.places:
                group.create_task(self._begin(place))
            for _ in range(self._settings.concurrency):
                group.create_task(self._work())

    async def _begin(self, place: Place) -> None:
        """Allow passes in the place once the informer has synced there, and queue the jobs that came earlier."""
        await self._view.wait_until_synced(place)
        self._begun.add(place)
        self._unseen.update(self._view.keys(place))
        log.info("all is listed%s: %d jobs", f" in {place}" if place else "", len(self._view.keys(place)))
        early = {key for key in self._early if self._settings.place(key[0]) == place}
        self._early -= early
        for key in early:
            self._queue.add(key)

    async def _work(self) -> None:
        while True:
            # A pass that writes nothing never yields; thousands of them would block the renewal of the Lease, which
            # would be lost.
            await asyncio.sleep(0)
            key = await self._queue.get()
            try:
                async with self._lock(key):
                    if self._settings.place(key[0]) not in self._begun:
                        self._early.add(key)
                    elif self._leading():
                        await self.reconcile(key)
                        self._catch_up(key)
            finally:
                self._queue.done(key)

    def _lock(self, key: Key) -> AbstractAsyncContextManager[Any]:
        """Return the lock of a pass. Under a maximum of a namespace, a pass sees the writes of the one before it."""
        return self._locks[key[0]] if self._settings.policy.limits_namespaces else nullcontext()

    def _catch_up(self, key: Key) -> None:
        if key in self._unseen:
            self._unseen.discard(key)
            if not self._unseen:
                log.info("every job has been looked at")

    async def reconcile(self, key: Key) -> None:
        """Run one pass, and handle every exception in it."""
        started = time.monotonic()
        try:
            job = self._view.job(key)
            self._counts.saw(key, job)
            with logs.about(key, job.status.attempt if job is not None else None):
                await self._try(key, job)
        except Exception:  # A bug that one job triggers must not stop the others.
            with logs.about(key):
                log.exception("a pass failed unexpectedly")
            self._failed(key, "Unexpected")
        self._observer.passed(time.monotonic() - started)
        self._observer.queued(self._queue.depth)

    async def _try(self, key: Key, job: Job | None) -> None:
        try:
            due = await self._pass(job) if job is not None else None
        except Stale:
            self._again(key)
        except ApiError as error:
            pause = self._failed(key, error.reason, error.retry_after or 0.0)
            log.warning("%s; trying again in %.1f s", error, pause)
        except Refused as error:
            pause = self._failed(key, "Quota" if EXCEEDED_QUOTA in str(error) else "Refused")
            log.warning("%s; trying again in %.1f s", error, pause)
        else:
            self._stale.discard(key)
            self._queue.forget(key)
            if due is not None:
                self._queue.add_at(key, due)

    def _again(self, key: Key) -> None:
        """Retry at once, or after a pause if the last pass was stale too."""
        if key in self._stale:
            self._failed(key, "Stale")
        else:
            self._stale.add(key)
            self._queue.add(key)

    def _failed(self, key: Key, reason: str, at_least: float = 0.0) -> float:
        self._observer.failed(reason)
        return self._queue.retry(key, at_least)

    async def _pass(self, job: Job) -> datetime | None:
        """Run one pass. Return the time of the next one, None for a job that is gone."""
        await self._view.follow_owners(job)
        snapshot, decided = await self._decide(job, self._view.snapshot(job))
        try:
            await self._applier.carry_out(job, decided)
        except Vanished:
            self._view.forget(job)
            return None
        except Refused as error:
            await self._report_refusal(job, replace(snapshot, refused=str(error)))
            raise
        self._counts.did(job, decided)
        return min(filter(None, (decided.wake_at, self._resync())))

    async def _decide(self, job: Job, snapshot: Snapshot) -> tuple[Snapshot, Plan]:
        """Return the snapshot with all data that was looked up, and the plan that needs no more data."""
        for _ in range(ROUNDS):
            found = self._decides(job, snapshot, self._clock())
            if not found.lookups:
                return snapshot, found
            for lookup in found.lookups:
                snapshot = await self._look_up(job, snapshot, lookup)
        raise RuntimeError(f"it still looks up {found.lookups} after {ROUNDS} rounds")

    async def _report_refusal(self, job: Job, snapshot: Snapshot) -> None:
        """Write the API server's refusal into the status, for the user to read. It has no other effect."""
        _, decided = await self._decide(job, snapshot)
        if decided.create or decided.delete:
            return
        try:
            await self._applier.carry_out(job, decided)
        except Vanished:
            self._view.forget(job)

    async def _look_up(self, job: Job, snapshot: Snapshot, lookup: Lookup) -> Snapshot:
        """Return the snapshot with the data. The cache gets it too: it reports the end of known objects only."""
        if lookup.target == "in_use":
            found = await self._requests(lookup.max_age)
            return replace(snapshot, in_use=found.of_others(job.namespace, job.uid))
        if lookup.target == "pods":
            return replace(snapshot, pods=await self._pods(job, snapshot.pods), pods_fresh=True)
        if lookup.target == "events":
            return replace(snapshot, pods_refused=await self._failed_creations.cause(job.namespace, lookup.name))
        raw = await self._client.find(of_kind(lookup.kind), job.namespace, lookup.name)
        if raw is not None:
            self._view.note(raw)
        child = None if raw is None else read_child(raw)
        others = tuple(other for other in snapshot.children if other.name != lookup.name)
        if child is None or child.job_uid != job.uid:
            return replace(snapshot, children=others, gone=snapshot.gone | {lookup.name})
        return replace(snapshot, children=(*others, child), fresh=snapshot.fresh | {lookup.name})

    async def _pods(self, job: Job, known: Iterable[Pod]) -> tuple[Pod, ...]:
        """Return the job's current pods, and the trace of each evicted pod that is gone since it was seen."""
        there: dict[str, Pod] = {}
        async for page in self._client.list(PODS, job.namespace, selector=f"{names.JOB_UID}={job.uid}"):
            if page.first:
                there.clear()
            for raw in page.items:
                self._view.note({**raw, "kind": PODS.kind})
            there |= {pod.name: pod for pod in map(read_pod, page.items) if pod is not None}
        for pod in there.values():
            await self._view.owners.follow(pod)
        own = filter(None, map(self._view.owners.admitted, there.values()))
        taken = (pod.trace for pod in known if pod.disrupted and pod.name not in there)
        return (*own, *taken)

    async def _requests(self, max_age: float) -> InUse:
        """Return the requests of all pods on nodes. All jobs share an answer that is young enough."""
        now = self._clock()
        if self._in_use is not None and (now - self._in_use[0]).total_seconds() < max_age:
            return self._in_use[1]
        found = InUse()
        async for page in self._client.list(PODS, field_selector=ON_A_NODE):
            if page.first:
                found = InUse()
            found.add(page.items)
        self._in_use = (now, found)
        return found

    def _resync(self) -> datetime:
        seconds = self._settings.resync * random.uniform(1 - RESYNC_JITTER, 1 + RESYNC_JITTER)
        return self._clock() + timedelta(seconds=seconds)
