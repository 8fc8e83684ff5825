"""Operators in this process, one after the other: a new one follows each crash."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Self

from testkit.harness.writes import Crash, MortalClient, Writes
from trainwright_operator.controller.operator import Operator
from trainwright_operator.informer.cluster_view import ClusterView
from trainwright_operator.kube.connection import Connection
from trainwright_operator.policy import Policy
from trainwright_operator.settings import Backoff, Settings

SECONDS_BETWEEN_LOOKS = 0.05

FAST = Settings(
    backoff=Backoff(base=0.05, limit=0.2, jitter=0.1),
    # On a busy machine the simulators may take some seconds from a posted outcome to the child's end.
    stop_grace=15.0,
    overlap_grace=0.2,
    resync=5.0,
    request_timeout=5.0,
    watch_timeout=30.0,
    retry_base=0.05,
    retry_limit=0.5,
    policy=Policy(inline_keys=True),
)
"""Tenths of a second where production uses seconds. Progress is not served, so pods do not post."""


class Operators:
    """Works inside its `async with` block. Errors other than a crash cancel the block and are raised.

    `at_once` of them run side by side, without a Lease.
    """

    def __init__(self, kubeconfig: Path, settings: Settings, writes: Writes | None = None, at_once: int = 1) -> None:
        self._kubeconfig, self._settings, self._at_once = kubeconfig, settings, at_once
        self.writes = writes or Writes()
        self._group = asyncio.TaskGroup()
        self._running: list[asyncio.Task[None]] = []
        self._views: list[ClusterView] = []

    async def __aenter__(self) -> Self:
        await self._group.__aenter__()
        self.start()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.stop()
        cancelled = isinstance(error, asyncio.CancelledError)
        await self._group.__aexit__(*((kind, error, trace) if cancelled else (None, None, None)))

    def start(self) -> None:
        self._views.clear()
        self._running = [self._group.create_task(self._run()) for _ in range(self._at_once)]

    async def stop(self) -> None:
        """Stop all operators, for a time without any."""
        for task in self._running:
            task.cancel()
        for task in self._running:
            with suppress(asyncio.CancelledError):
                await task
        self._running.clear()

    async def restart(self) -> None:
        await self.stop()
        self.start()

    async def have_looked(self) -> None:
        """Wait until all running operators have listed everything."""
        while len(self._views) < self._at_once:
            await asyncio.sleep(SECONDS_BETWEEN_LOOKS)
        for view in self._views:
            for place in view.jobs.places:
                await view.wait_until_synced(place)

    async def quiet(self, seconds: float) -> None:
        await self.writes.quiet(seconds)

    async def _run(self) -> None:
        while True:
            try:
                await self._run_one()
            except* Crash:
                self.writes.revive()

    async def _run_one(self) -> None:
        connection = await Connection.open(str(self._kubeconfig))
        async with MortalClient(connection, self.writes, timeout=self._settings.request_timeout) as client:
            operator = Operator(client, self._settings)
            self._views.append(operator.view)
            await operator.run()
