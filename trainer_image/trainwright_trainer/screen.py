"""What a run says: progress, notices, and the last line. One object, so that nothing is printed past a live display."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable
from typing import TextIO

from trainwright_trainer.progress import listener_for
from trainwright_trainer.progress.events import Event, Listener


class Screen:
    """The listener of a stream, made when the first event comes; notices before that are plain lines."""

    def __init__(self, stream: TextIO | None = None, *, as_json: bool = False, quiet: bool = False) -> None:
        self._stream = sys.stdout if stream is None else stream
        self._json = as_json
        self._quiet = quiet
        self._listener: Listener | None = None

    def say(self, *lines: str) -> None:
        """Lines for people; with --json each is an object `{"event": "notice", "line": …}`."""
        for line in () if self._quiet else lines:
            written = json.dumps({"event": "notice", "line": line}) if self._json else line
            print(written, file=self._stream, flush=True)

    def tell(self, notices: Iterable[str], source: str) -> None:
        """Notices of a file, each once, with the file's name."""
        self.say(*(f"{source}: {notice}" for notice in dict.fromkeys(notices)))

    def hear(self, event: Event) -> None:
        if self._quiet:
            return
        if self._listener is None:
            self._listener = listener_for(self._stream, self._json)
        self._listener.hear(event)

    def close(self) -> None:
        if self._listener is not None:
            self._listener.close()
