"""Listeners of a run's events, one file each: they show progress to people and to programs."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Mapping
from typing import TextIO

from trainwright_trainer.callbacks.events import Listener


def listener_for(
    stream: TextIO,
    json: bool,
    *,
    environment: Mapping[str, str] | None = None,
    clock: Callable[[], float] = time.monotonic,
) -> Listener:
    """Return the progress display that fits the stream: JSON lines if `json`, live in a terminal, else plain lines.

    Each display is imported only when it is chosen, because rich takes 0.1 s to import.
    """
    if json:
        from trainwright_trainer.callbacks.json_lines import JsonLines

        return JsonLines(stream, clock=clock)
    if is_live(stream, environment):
        from trainwright_trainer.callbacks.terminal import TerminalProgress

        return TerminalProgress(stream, clock=clock)
    from trainwright_trainer.callbacks.plain_lines import PlainProgress

    return PlainProgress(stream, clock=clock)


def is_live(stream: TextIO, environment: Mapping[str, str] | None = None) -> bool:
    """True if the stream is a terminal in which lines can be redrawn."""
    return stream.isatty() and (os.environ if environment is None else environment).get("TERM", "dumb") not in _DUMB


_DUMB = ("", "dumb", "unknown")
