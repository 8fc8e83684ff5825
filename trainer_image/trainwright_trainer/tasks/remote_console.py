"""The driver's screen, as a worker has it: what is said and heard here is told there."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable

from trainwright_trainer.backends.ray.messages import Channel
from trainwright_trainer.callbacks.console import told_of
from trainwright_trainer.callbacks.events import Event, Stepped

EVERY_SECONDS = 0.1
"""How often steps are told. Nobody can see more of them."""


class RemoteConsole:
    """Of rank 0. A listener."""

    def __init__(self, channel: Channel, *, clock: Callable[[], float] = time.monotonic) -> None:
        self._channel, self._clock = channel, clock
        self._next = clock()

    def say(self, *lines: str) -> None:
        if lines:
            self._channel.send("said", lines)

    def tell(self, notices: Iterable[str], source: str) -> None:
        """Notices of a file."""
        self.say(*told_of(notices, source))

    def on_event(self, event: Event) -> None:
        if isinstance(event, Stepped):
            now = self._clock()
            if now < self._next:
                return
            self._next = now + EVERY_SECONDS
        self._channel.send("heard", event)

    def close(self) -> None:
        """The driver closes its own."""
