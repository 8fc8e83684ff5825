"""Which job is to be looked at next. One key is worked on by one worker at a time; what is asked twice is done once."""

from __future__ import annotations

import asyncio
import heapq
import random
from collections.abc import Callable, Hashable
from datetime import datetime, timedelta
from typing import Generic, TypeVar

K = TypeVar("K", bound=Hashable)

GLANCE = 60.0
"""The clock on the wall may be set anew: it is looked at after so many seconds at the latest."""


class WorkQueue(Generic[K]):
    """Keys that are ready, keys that wait for a time, keys that are worked on.

    A worker takes a key with `get` and says `done` in every case, after `forget` (it went well) or `retry` (it did
    not). A key has at most one time set, the earliest; it is void once the key is taken.
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
        """What `_ready` holds."""
        self._active: set[K] = set()
        self._again: set[K] = set()
        self._times: dict[K, datetime] = {}
        self._heap: list[tuple[datetime, int, K]] = []
        self._pushed = 0
        self._timer: asyncio.TimerHandle | None = None
        self._failures: dict[K, int] = {}

    @property
    def depth(self) -> int:
        """Keys that could be worked on now."""
        return len(self._waiting) + len(self._again)

    def add(self, key: K) -> None:
        """Once more, should it be worked on right now."""
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
        """After a pause that doubles with every failure of the key; answers it, in seconds."""
        failures = self._failures.get(key, 0)
        self._failures[key] = failures + 1
        pause = min(self._limit, self._base * 2.0 ** min(failures, 32)) * (0.8 + 0.4 * self._jitter())
        pause = max(pause, at_least)
        self.add_at(key, self._clock() + timedelta(seconds=pause))
        return pause

    def forget(self, key: K) -> None:
        """It went well: the next failure is a first one."""
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
        """Sets the timer to the earliest time."""
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
