"""The times at which a report is sent to the operator, and at which a line says that reports do not arrive. The caller
passes the clock."""

from __future__ import annotations

EVERY_SECONDS = 5.0
GAP_SECONDS = 1.0
"""The minimum time between two reports, even if checkpoints come faster."""


class ReportSchedule:
    """A report is due at the start, every 5 seconds, and soon after a checkpoint."""

    def __init__(self, now: float) -> None:
        self._last = now - EVERY_SECONDS
        self._hurried = False

    def rest(self, now: float) -> float:
        """Seconds until the next report; 0 or less means now."""
        return self._last + (GAP_SECONDS if self._hurried else EVERY_SECONDS) - now

    def hurry(self) -> bool:
        """Make the next report due soon. Return True if it was not already."""
        news, self._hurried = not self._hurried, True
        return news

    def sent(self, now: float) -> None:
        self._last, self._hurried = now, False


class Reach:
    """Gives one notice when reports stop reaching the operator, and one when they reach it again."""

    def __init__(self) -> None:
        self._lost = False

    def lost(self, why: str) -> str | None:
        before, self._lost = self._lost, True
        return None if before else f"progress reports do not reach the operator: {why}"

    def found(self) -> str | None:
        before, self._lost = self._lost, False
        return "progress reports reach the operator again" if before else None
