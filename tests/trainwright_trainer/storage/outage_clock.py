"""A fake clock that stops and starts a server at planned times, without real waiting."""

from __future__ import annotations

from collections.abc import Callable

from trainwright_trainer.storage.retry_policy import RetryPolicy


class OutageClock:
    """A fake clock. `sleep` advances it and runs the actions whose time has come."""

    def __init__(self) -> None:
        self.now = 0.0
        self.lines: list[str] = []
        self._plans: list[tuple[float, Callable[[], object]]] = []

    def at(self, time: float, act: Callable[[], object]) -> None:
        self._plans.append((time, act))

    def sleep(self, seconds: float) -> None:
        self.now += seconds
        while self._plans and self._plans[0][0] <= self.now:
            self._plans.pop(0)[1]()

    def retry_policy(self) -> RetryPolicy:
        return RetryPolicy(clock=lambda: self.now, sleep=self.sleep, chance=lambda: 1.0, tell=self.lines.append)
