"""The progress of a user's own train function, from its reports. Pure: the caller passes the clock."""

from __future__ import annotations

import math

from trainwright_trainer.callbacks.events import FunctionStarted, Reported


class FunctionProgress:
    """The newest report, and how much is done if the function reports `epoch` and its config has `epochs`."""

    def __init__(self) -> None:
        self.report: Reported | None = None
        self._started: FunctionStarted | None = None
        self._first: tuple[float, float] | None = None
        self._newest: tuple[float, float] | None = None

    def started(self, event: FunctionStarted) -> None:
        """The function begins, or begins again on new workers: its speed is measured anew."""
        self._started, self._first, self._newest = event, None, None

    def reported(self, event: Reported, now: float) -> None:
        self.report = event
        if (fraction := self.fraction) is not None:
            self._newest = (now, fraction)
            self._first = self._first or self._newest

    @property
    def epochs(self) -> int | None:
        return None if self._started is None else self._started.epochs

    @property
    def fraction(self) -> float | None:
        """The fraction that is done, 0 to 1; None if it is unknown."""
        epoch = None if self.report is None else self.report.epoch
        return min(1.0, (epoch + 1) / self.epochs) if epoch is not None and self.epochs else None

    @property
    def seconds_left(self) -> float | None:
        """The time left at the speed between the first and the newest report; None before two reports."""
        if self._first is None or self._newest is None or self._newest[1] <= self._first[1]:
            return None
        (began, before), (now, done) = self._first, self._newest
        return (now - began) / (done - before) * (1 - done)

    @property
    def score(self) -> tuple[str, float] | None:
        """The metric that ranks the checkpoints, and its newest value, if the function reports it."""
        name = None if self._started is None else self._started.metric
        if name is None or self.report is None:
            return None
        value = self.report.metrics.get(name)
        return None if value is None or not math.isfinite(value) else (name, value)
