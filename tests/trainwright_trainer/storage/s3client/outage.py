"""A clock that nobody waits for, on which an S3 server is away for a while."""

from __future__ import annotations

from collections.abc import Callable

from trainwright_trainer.storage.s3client.retry_policy import RetryPolicy


class Clock:
    """Sleeping moves it, and what is planned for a time happens when that has come."""

    def __init__(self) -> None:
        self.now = 0.0
        self.told: list[str] = []
        self._plans: list[tuple[float, Callable[[], object]]] = []

    def at(self, time: float, act: Callable[[], object]) -> None:
        self._plans.append((time, act))

    def sleep(self, seconds: float) -> None:
        self.now += seconds
        while self._plans and self._plans[0][0] <= self.now:
            self._plans.pop(0)[1]()

    def retry_policy(self) -> RetryPolicy:
        return RetryPolicy(clock=lambda: self.now, sleep=self.sleep, chance=lambda: 1.0, tell=self.told.append)
