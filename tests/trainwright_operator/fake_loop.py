"""An event loop with simulated time: when every task waits, the clock moves to the next timer."""

from __future__ import annotations

import asyncio
import selectors
from collections.abc import Coroutine
from datetime import UTC, datetime, timedelta
from typing import Any

START = datetime(2026, 11, 1, 12, tzinfo=UTC)


class FakeLoop(asyncio.SelectorEventLoop):
    def __init__(self) -> None:
        self.passed = 0.0
        super().__init__(_Selector(self))

    def time(self) -> float:
        return self.passed


class _Selector(selectors.DefaultSelector):
    def __init__(self, loop: FakeLoop) -> None:
        super().__init__()
        self._loop = loop

    def select(self, timeout: float | None = None) -> Any:
        if timeout is None:
            raise RuntimeError("everything waits, and for nothing")
        self._loop.passed += max(timeout, 0.0)
        return super().select(0)


def run_scenario(scenario: Coroutine[Any, Any, None]) -> None:
    with asyncio.Runner(loop_factory=FakeLoop) as runner:
        runner.run(scenario)


def now() -> datetime:
    return START + timedelta(seconds=asyncio.get_running_loop().time())
