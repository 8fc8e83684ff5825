"""A queue of jobs to reconcile. One worker at a time has a key, and repeated requests for a key are merged."""

from __future__ import annotations

import asyncio
import heapq
import random
from collections.abc import Callable, Hashable
from datetime import datetime, timedelta
from typing import Generic, TypeVar

K = TypeVar("K", bound=Hashable)

GLANCE = 60.0
"""The maximum number of seconds between two looks at the wall clock, which may be adjusted."""


class WorkQueue(Generic[K]):
    """Keys that are ready, keys that wait for a time, and keys that a worker has.

    A worker takes a key with `get` and always calls `done`, after `forget` (success) or `retry` (failure). A key has at
    most one time set, the earliest. `get` clears it.
    """

    def __init__(
        self,
        clock: Callable[[], datetime],
        *,
        base: float = 0.2,
        limit: float = 60.0,
        jitter: Callable[[], float] = random.random,
    ) -> None:
        self._clock, self._base, self._limit, self._jitter = clock, base, limit, jitter
        self._ready: asyncio.Queue[K] = asyncio.Queue()
        self._waiting: set[K] = set()
        """The keys in `_ready`."""
        self._active: set[K] = set()
        self._again: set[K] = set()
        self._times: dict[K, datetime] = {}
        self._heap: list[tuple[datetime, int, K]] = []
        self._pushed = 0
        self._timer: asyncio.TimerHandle | None = None
        self._failures: dict[K, int] = {}

    @property
    def depth(self) -> int:
        """The number of keys that could be processed now."""
        return len(self._waiting) + len(self._again)

    def add(self, key: K) -> None:
        """Add the key. If a worker has it now, it is processed once more afterwards."""
        if key in self._active:
            self._again.add(key)
        elif key not in self._waiting:
            self._waiting.add(key)
            self._ready.put_nowait(key)

    def add_at(self, key: K, when: datetime) -> None:
        known = self._times.get(key)
        if known is not None and known <= when:
            return
        self._times[key] = when
        self._pushed += 1
        heapq.heappush(self._heap, (when, self._pushed, key))
        self._wind()

    def retry(self, key: K, at_least: float = 0.0) -> float:
        """Add the key after a pause that doubles with each failure of the key. Return the pause in seconds."""
        failures = self._failures.get(key, 0)
        self._failures[key] = failures + 1
        pause = min(self._limit, self._base * 2.0 ** min(failures, 32)) * (0.8 + 0.4 * self._jitter())
        pause = max(pause, at_least)
        self.add_at(key, self._clock() + timedelta(seconds=pause))
        return pause

    def forget(self, key: K) -> None:
        """Reset the failures of the key after a success."""
        self._failures.pop(key, None)

    async def get(self) -> K:
        key = await self._ready.get()
        self._waiting.discard(key)
        self._times.pop(key, None)
        self._active.add(key)
        return key

    def done(self, key: K) -> None:
        self._active.discard(key)
        if key in self._again:
            self._again.discard(key)
            self.add(key)

    def _wind(self) -> None:
        """Set the timer to the earliest time."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        self._drop_void()
        if self._heap:
            pause = (self._heap[0][0] - self._clock()).total_seconds()
            self._timer = asyncio.get_running_loop().call_later(min(max(pause, 0.0), GLANCE), self._ring)

    def _ring(self) -> None:
        self._timer = None
        now = self._clock()
        while self._heap and self._heap[0][0] <= now:
            when, _, key = heapq.heappop(self._heap)
            if self._times.get(key) == when:
                del self._times[key]
                self.add(key)
        self._wind()

    def _drop_void(self) -> None:
        while self._heap and self._times.get(self._heap[0][2]) != self._heap[0][0]:
            heapq.heappop(self._heap)
