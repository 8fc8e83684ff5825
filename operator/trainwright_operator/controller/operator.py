"""The operator without its process: informer, queue and reconciler. The tests run this class."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import suppress
from datetime import UTC, datetime
from types import TracebackType
from typing import Self

from trainwright_operator.controller.counts import Observer
from trainwright_operator.controller.queue import WorkQueue
from trainwright_operator.controller.reconciler import Key, Reconciler
from trainwright_operator.decide.plan import plan
from trainwright_operator.informer.cluster_view import ClusterView
from trainwright_operator.kopf_runtime import Host
from trainwright_operator.kube.client import Client
from trainwright_operator.server.metrics import Metrics
from trainwright_operator.settings import Settings


def utc_now() -> datetime:
    return datetime.now(UTC)


class Operator:
    """The running operator, by `run` or `async with`. It leads from the start: the caller must hold the Lease."""

    def __init__(
        self,
        client: Client,
        settings: Settings,
        clock: Callable[[], datetime] = utc_now,
        *,
        observer: Observer | None = None,
        ca: Callable[[], str] = str,
        leading: Callable[[], bool] = lambda: True,
    ) -> None:
        self.queue: WorkQueue[Key] = WorkQueue(clock, base=settings.retry_base, limit=settings.retry_limit)
        self.view = ClusterView(client, settings, clock, self.queue.add)
        self._host = Host(client, self.view.jobs, settings)
        self.reconciler = Reconciler(
            client,
            self.view,
            self.queue,
            settings,
            clock,
            lambda job, snapshot, now: plan(job, snapshot, settings, now, ca()),
            observer=observer or Metrics(),
            leading=leading,
        )
        self._running: asyncio.Task[None] | None = None

    async def run(self) -> None:
        """Run until cancelled. Any other end is a bug."""
        async with asyncio.TaskGroup() as group:
            group.create_task(self._host.run())
            group.create_task(self.view.run())
            group.create_task(self.reconciler.run())

    async def __aenter__(self) -> Self:
        self._running = asyncio.create_task(self.run())
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Stop the operator. Raises the exception that ended it early, if any."""
        assert self._running is not None
        self._running.cancel()
        with suppress(asyncio.CancelledError):
            await self._running
