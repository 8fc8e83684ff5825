"""What people and programs see while a run goes: listeners of the events, one file each."""

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
    """The progress display that fits the stream: JSON lines where asked for, live in a terminal, plain lines elsewhere.

    Each is imported only when it is chosen, for rich costs a tenth of a second.
    """
    if json:
        from trainwright_trainer.callbacks.json_lines import JsonLines

        return JsonLines(stream, clock=clock)
    if stream.isatty() and (os.environ if environment is None else environment).get("TERM", "dumb") not in _DUMB:
        from trainwright_trainer.callbacks.terminal import TerminalProgress

        return TerminalProgress(stream, clock=clock)
    from trainwright_trainer.callbacks.plain_lines import PlainProgress

    return PlainProgress(stream, clock=clock)


_DUMB = ("", "dumb", "unknown")
