"""A clock that a test controls."""

from __future__ import annotations

import asyncio
import heapq
import itertools
from datetime import UTC, datetime, timedelta

START = datetime(2026, 11, 1, 12, tzinfo=UTC)


class FakeTime:
    """`advance` moves the clock, which `monotonic` and `now` read, and ends each `sleep` at its time."""

    def __init__(self) -> None:
        self.passed = 0.0
        self._sleepers: list[tuple[float, int, asyncio.Future[None]]] = []
        self._order = itertools.count()

    def monotonic(self) -> float:
        return self.passed

    def now(self) -> datetime:
        return START + timedelta(seconds=self.passed)

    async def sleep(self, seconds: float) -> None:
        if seconds <= 0:
            await asyncio.sleep(0)
            return
        wakes: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        heapq.heappush(self._sleepers, (self.passed + seconds, next(self._order), wakes))
        await wakes

    async def advance(self, seconds: float) -> None:
        """Move the clock by `seconds`. Each sleeper wakes at its own time."""
        end = self.passed + seconds
        await settle()
        while self._sleepers and self._sleepers[0][0] <= end:
            due, _, wakes = heapq.heappop(self._sleepers)
            self.passed = max(self.passed, due)
            if not wakes.done():
                wakes.set_result(None)
                await settle()
        self.passed = end
        await settle()


async def settle() -> None:
    """Let every task run until it waits for something."""
    for _ in range(50):
        await asyncio.sleep(0)
