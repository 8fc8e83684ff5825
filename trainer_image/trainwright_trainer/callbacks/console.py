"""The console of a run: it prints progress, notices and the last line.

One object prints them all, so that nothing is printed past a live display.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable
from typing import TextIO

from trainwright_trainer.callbacks import is_live, listener_for
from trainwright_trainer.callbacks.events import Event, Listener, LiveDisplay
from trainwright_trainer.callbacks.plain_lines import LineStream


class Console:
    """Creates the listener of its stream at the first event. Notices before that are plain lines."""

    def __init__(self, stream: TextIO | None = None, *, as_json: bool = False, quiet: bool = False) -> None:
        self._stream = sys.stdout if stream is None else stream
        self._lines = LineStream(self._stream)
        self._json = as_json
        self._quiet = quiet
        self._listener: Listener | None = None
        self._others: list[Listener] = []

    @property
    def is_quiet(self) -> bool:
        return self._quiet

    def share(self, listener: Listener) -> None:
        """Add a listener that receives every event from now on."""
        self._others.append(listener)

    def report(self, event: Event) -> None:
        """Send an event to the added listeners alone. It is for a task with a display of its own."""
        for other in self._others:
            other.on_event(event)

    def log(self, *lines: str) -> None:
        """Print lines for people; with --json each is an object `{"event": "notice", "line": …}`."""
        for line in () if self._quiet else lines:
            if isinstance(self._listener, LiveDisplay):
                self._listener.show(line)
                continue
            self._lines.as_it_is(json.dumps({"event": "notice", "line": line}) if self._json else line)

    def stage(self, line: str) -> None:
        """Print what begins now, in a live terminal alone, so that it shows something at once."""
        if not self._json and is_live(self._stream):
            self.log(line)

    def log_notices(self, notices: Iterable[str], source: str) -> None:
        """Print the notices of a file."""
        self.log(*notice_lines(notices, source))

    def on_event(self, event: Event) -> None:
        self.report(event)
        if self._quiet:
            return
        if self._listener is None:
            self._listener = listener_for(self._stream, self._json)
        self._listener.on_event(event)

    def close(self) -> None:
        for listener in (self._listener, *self._others):
            if listener is not None:
                listener.close()


def notice_lines(notices: Iterable[str], source: str) -> list[str]:
    """Return the notices of a file as lines that start with the file's name, without duplicates."""
    return [f"{source}: {notice}" for notice in dict.fromkeys(notices)]
