"""Listeners that tie a run's events to its folder."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence

from trainwright_trainer.progress.events import Checkpointed, Ended, Evaluated, Event, Listener
from trainwright_trainer.progress.history import History
from trainwright_trainer.rundir import shared_files
from trainwright_trainer.rundir.attempt import Attempt


class MetricsFile:
    """Keeps metrics.json up to date. A listener."""

    def __init__(self, attempt: Attempt) -> None:
        before = None if attempt.fresh else shared_files.read_metrics(attempt)
        self.history = History() if before is None else History.from_json(before)
        self._attempt = attempt

    def hear(self, event: Event) -> None:
        self.history.hear(event)
        if isinstance(event, Evaluated | Ended):
            shared_files.write_metrics(self._attempt, self.history.to_json())

    def close(self) -> None:
        """The file is whole after every event."""


class Relay:
    """Hands every event to all, on the training thread; what the checkpoint writer tells waits until the next event."""

    def __init__(self, listeners: Sequence[Listener]) -> None:
        self._listeners = listeners
        self._waiting: deque[Checkpointed] = deque()

    def checkpointed(self, name: str, error: str | None) -> None:
        """May be called on any thread."""
        self._waiting.append(Checkpointed(name, error))

    def hear(self, event: Event) -> None:
        while self._waiting:
            self._tell(self._waiting.popleft())
        self._tell(event)

    def close(self) -> None:
        for listener in self._listeners:
            listener.close()

    def _tell(self, event: Event) -> None:
        for listener in self._listeners:
            listener.hear(event)
