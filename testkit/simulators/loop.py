"""A work queue: each key is handled by one task at a time, again if it changed meanwhile, and again after errors."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

from testkit.api import ApiError
from testkit.simulators.mirror import AWAY, Key

Look = Callable[[Key], Awaitable[float | None]]
SECONDS_BEFORE_ANOTHER_TRY = 0.1
REFUSALS_IN_A_ROW = 300


class Loop:
    """`look` handles a key and returns the seconds until it wants to run again."""

    def __init__(self, look: Look, at_once: int = 25) -> None:
        self._look, self._at_once = look, at_once
        self._queue: asyncio.Queue[Key] = asyncio.Queue()
        self._waiting: set[Key] = set()
        self._running: set[Key] = set()
        self._touched: set[Key] = set()
        self._refused: dict[Key, int] = {}
        self._stopping = False

    def wake(self, key: Key, after: float = 0.0) -> None:
        if after > 0:
            asyncio.get_running_loop().call_later(after, self.wake, key)
        elif key in self._running:
            self._touched.add(key)
        elif key not in self._waiting:
            self._waiting.add(key)
            self._queue.put_nowait(key)

    async def run(self) -> None:
        async with asyncio.TaskGroup() as group:
            for _ in range(self._at_once):
                group.create_task(self._work())

    def stop(self) -> None:
        """Stop. Each task finishes its current work first."""
        self._stopping = True
        for _ in range(self._at_once):
            self._queue.put_nowait(("", ""))

    async def _work(self) -> None:
        while True:
            key = await self._queue.get()
            if self._stopping:
                return
            self._waiting.discard(key)
            self._running.add(key)
            again = await self._looked_at(key)
            self._running.discard(key)
            if key in self._touched:
                self._touched.discard(key)
                self.wake(key)
            elif again is not None:
                self.wake(key, max(again, 0.001))

    async def _looked_at(self, key: Key) -> float | None:
        """Retries while the API server is down; repeated refusals fail the test."""
        try:
            again = await self._look(key)
        except AWAY:
            return SECONDS_BEFORE_ANOTHER_TRY
        except ApiError as error:
            self._refused[key] = self._refused.get(key, 0) + 1
            if self._refused[key] > REFUSALS_IN_A_ROW or error.code in (400, 422):
                raise
            return SECONDS_BEFORE_ANOTHER_TRY
        self._refused.pop(key, None)
        return again
