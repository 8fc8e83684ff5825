"""The time that the analyses of one report may take."""

from __future__ import annotations

import time
from collections.abc import Callable


class Deadline:
    """Passed after `seconds`, or as soon as `stop` returns True."""

    def __init__(
        self, seconds: float, stop: Callable[[], bool] = bool, *, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._stop, self._clock = stop, clock
        self._began, self._seconds = clock(), seconds

    @property
    def passed(self) -> bool:
        return self.spent >= self._seconds or self._stop()

    @property
    def spent(self) -> float:
        """Seconds since the start."""
        return self._clock() - self._began
