"""Operators in this process, one after the other: whoever dies is followed by a fresh one."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Self

from e2e.harness.writes import Crash, MortalClient, Writes

from trainwright_operator.connection import Connection
from trainwright_operator.process import Operator
from trainwright_operator.settings import Backoff, Settings

FAST = Settings(
    backoff=Backoff(base=0.05, limit=0.2, jitter=0.1),
    # On a busy machine the players may take some seconds from a posted outcome to the child's end.
    stop_grace=15.0,
    overlap_grace=0.2,
    resync=5.0,
    request_timeout=5.0,
    watch_timeout=30.0,
    retry_base=0.05,
    retry_limit=0.5,
)
"""Tenths of a second where production takes seconds. Nobody serves progress, so pods are not told to post."""


class Operators:
    """Works inside its `async with` block. What else than a death ends an operator cancels the block and raises."""

    def __init__(self, kubeconfig: Path, settings: Settings, writes: Writes | None = None) -> None:
        self._kubeconfig, self._settings = kubeconfig, settings
        self.writes = writes or Writes()
        self._group = asyncio.TaskGroup()
        self._running: asyncio.Task[None] | None = None

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
        self._running = self._group.create_task(self._lives())

    async def stop(self) -> None:
        """For a time in which there is none."""
        if self._running is not None:
            self._running.cancel()
            with suppress(asyncio.CancelledError):
                await self._running
            self._running = None

    async def restart(self) -> None:
        await self.stop()
        self.start()

    async def _lives(self) -> None:
        while True:
            try:
                await self._life()
            except* Crash:
                self.writes.revive()

    async def _life(self) -> None:
        connection = await Connection.open(str(self._kubeconfig))
        async with MortalClient(connection, self.writes, timeout=self._settings.request_timeout) as client:
            await Operator(client, self._settings).run()
