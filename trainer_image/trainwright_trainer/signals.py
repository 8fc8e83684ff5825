"""SIGINT and SIGTERM ask the loop to stop; it does so at the next step, with a checkpoint."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType


class StopRequest:
    """A flag that the loop reads before every step. `reason` names who asked."""

    def __init__(self) -> None:
        self.reason: str | None = None

    def __bool__(self) -> bool:
        return self.reason is not None

    def ask(self, reason: str) -> None:
        self.reason = self.reason or reason


@contextmanager
def stopping_on_signals(request: StopRequest) -> Iterator[StopRequest]:
    """Turn the first signal into a request; a second SIGINT ends the program as usual.

    Only the main thread may set handlers: elsewhere (the Python API in a thread) signals are left alone.
    """

    def handle(number: int, frame: FrameType | None) -> None:
        if request:
            signal.default_int_handler(number, frame)
        request.ask(signal.Signals(number).name)

    try:
        previous = {number: signal.signal(number, handle) for number in (signal.SIGINT, signal.SIGTERM)}
    except ValueError:
        yield request
        return
    try:
        yield request
    finally:
        for number, handler in previous.items():
            signal.signal(number, handler)
