"""The driver's console in a worker process: it sends log lines and events to the driver."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable

from trainwright_trainer.backends.ray.messages import Channel
from trainwright_trainer.callbacks.console import notice_lines
from trainwright_trainer.callbacks.events import Event, Stepped

EVERY_SECONDS = 0.1
"""Minimum time between two step events that are sent. A console does not show more of them."""


class RemoteConsole:
    """A listener. Only the console of rank 0 receives events."""

    def __init__(self, channel: Channel, *, clock: Callable[[], float] = time.monotonic) -> None:
        self._channel, self._clock = channel, clock
        self._next = clock()

    def log(self, *lines: str) -> None:
        if lines:
            self._channel.send("log", lines)

    def log_notices(self, notices: Iterable[str], source: str) -> None:
        """Log the notices about the file `source`."""
        self.log(*notice_lines(notices, source))

    def on_event(self, event: Event) -> None:
        if isinstance(event, Stepped):
            now = self._clock()
            if now < self._next:
                return
            self._next = now + EVERY_SECONDS
        self._channel.send("event", event)

    def close(self) -> None:
        """Does nothing. The driver closes the real console."""
