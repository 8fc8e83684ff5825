"""Measures the training speed and estimates the remaining time, from the events of a listener."""

from __future__ import annotations

import math
from collections import deque

from trainwright_trainer.callbacks.events import Started, Stepped

# Long enough for a steady number, short enough to show a slow-down.
WINDOW_SECONDS = 5.0


def untrained_rows(started: Started) -> int:
    """The rows of the last epoch that `train_steps` leaves out."""
    steps = (started.total_steps or 0) % started.steps_per_epoch
    return max(0, started.split_rows.get("train", 0) - steps * started.batch_size) if steps else 0


class Throughput:
    """The recent throughput of training steps in rows per second, and the time left.

    The time left in an epoch counts steps alone. The total time left includes evaluation, because it uses the mean
    speed since this process started.
    """

    def __init__(self, started: Started, now: float) -> None:
        self._epochs, self._untrained = started.epochs, untrained_rows(started)
        self._began = now
        self._began_at: int | None = None
        self._samples: deque[tuple[float, int]] = deque()
        self._rate = math.nan

    def saw(self, event: Stepped, now: float) -> None:
        """Record the position; called when there is something to draw, not at every step."""
        rows = event.epoch * event.train_rows + event.epoch_rows
        if self._began_at is None:
            # The first step may include a warm-up, so throughput is measured from its end.
            self._began, self._began_at = now, rows
        self._samples.append((now, rows))
        while len(self._samples) > 2 and self._samples[1][0] <= now - WINDOW_SECONDS:
            self._samples.popleft()
        self._rate = self._slope(self._samples[0], (now, rows))

    def paused(self, measured: float) -> None:
        """Exclude an evaluation from the training time. `measured` is the trainer's own throughput, rows/s."""
        self._samples.clear()
        self._rate = measured

    @property
    def rows_per_second(self) -> float:
        """NaN until known."""
        return self._rate

    def left_in_epoch(self, event: Stepped) -> float:
        """Seconds; NaN until known."""
        return self._seconds(min(event.train_rows - event.epoch_rows, self._rows_left(event)), self._rate)

    def left_in_all(self, event: Stepped, now: float) -> float:
        """Seconds; NaN until known."""
        rows = event.epoch * event.train_rows + event.epoch_rows
        since = (self._began, rows if self._began_at is None else self._began_at)
        mean = self._slope(since, (now, rows))
        return self._seconds(self._rows_left(event), self._rate if math.isnan(mean) else mean)

    def _rows_left(self, event: Stepped) -> int:
        return (self._epochs - event.epoch) * event.train_rows - event.epoch_rows - self._untrained

    def _slope(self, start: tuple[float, int], end: tuple[float, int]) -> float:
        seconds, rows = end[0] - start[0], end[1] - start[1]
        return rows / seconds if seconds > 0 and rows > 0 else self._rate

    @staticmethod
    def _seconds(rows: int, rate: float) -> float:
        return max(0, rows) / rate if rate > 0 else math.nan
