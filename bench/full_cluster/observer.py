"""Observes a namespace and its pods in the clock of this machine: by watches, and by the event reporter's datagrams."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from testkit.api import Api, Manifest, Resource
from testkit.api.resource import JOBS, PODS, RAY_JOBS, TRAINING_JOBS
from testkit.cluster.node.cluster_folder import HOST

from bench.full_cluster import timeline
from bench.full_cluster.timeline import Stage

WATCHED = (TRAINING_JOBS, RAY_JOBS, JOBS, PODS)
LOOK_SECONDS = 0.1
TIMEOUT_SECONDS = 600.0


class Observer(asyncio.DatagramProtocol):
    """Pods on this machine's node share its clock."""

    def __init__(self) -> None:
        self.seen: dict[tuple[str, str], float] = {}
        self.pods: dict[str, Manifest] = {}
        """Pods by uid, as they were last seen."""
        self.address: tuple[str, int] = (HOST, 0)

    def connection_made(self, transport: Any) -> None:
        self.address = transport.get_extra_info("sockname")

    def datagram_received(self, data: bytes, addr: Any) -> None:  # noqa: ARG002  (asyncio's own names)
        event = json.loads(data)
        self._see(event["word"], event["who"], event["at"])

    def look(self, seen: Manifest) -> None:
        uid, now = seen["metadata"]["uid"], time.time()
        if seen["kind"] == "Pod":
            self.pods[uid] = seen
        for word in timeline.words(seen):
            self._see(word, uid, now)

    def forget(self) -> None:
        self.seen.clear()
        self.pods.clear()

    async def until(self, stage: Stage) -> float:
        """Return the time at which the stage is reached."""
        end = time.monotonic() + TIMEOUT_SECONDS
        while (moment := timeline.reached(self.seen, stage)) is None:
            if time.monotonic() > end:
                raise SystemExit(f"{stage.name!r} was not reached in {TIMEOUT_SECONDS:g} s; seen: {sorted(self.seen)}")
            await asyncio.sleep(LOOK_SECONDS)
        return moment

    def _see(self, word: str, who: str, moment: float) -> None:
        self.seen.setdefault((word, who), moment)


@asynccontextmanager
async def observing(api: Api, namespace: str) -> AsyncIterator[Observer]:
    """Observe all objects that appear in the namespace within the block."""
    loop = asyncio.get_running_loop()
    transport, one = await loop.create_datagram_endpoint(Observer, local_addr=(HOST, 0))
    versions = [(resource, (await api.list(resource, namespace)).resource_version) for resource in WATCHED]
    async with asyncio.TaskGroup() as group:
        watches = [group.create_task(_watch(api, namespace, *since, one)) for since in versions]
        try:
            yield one
        finally:
            transport.close()
            for watch in watches:
                watch.cancel()


async def _watch(api: Api, namespace: str, resource: Resource, version: str, one: Observer) -> None:
    while True:
        async for change in api.watch(resource, namespace, version):
            version = change.object["metadata"]["resourceVersion"]
            if change.type != "DELETED":
                one.look(change.object)
