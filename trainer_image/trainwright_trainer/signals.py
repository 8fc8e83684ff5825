"""SIGINT and SIGTERM ask the loop to stop: it does so after its step, with a checkpoint. A second one ends at once."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any

from trainwright_trainer.errors import StoppedRun

SIGNALS = (signal.SIGINT, signal.SIGTERM)
Handler = Callable[[int, FrameType | None], object]


class StopRequest:
    """A flag that the loop reads before every step. `reason` names who asked."""

    def __init__(self) -> None:
        self.reason: str | None = None
        self._at_once: str | None = None

    def __bool__(self) -> bool:
        return self.reason is not None

    def ask(self, reason: str) -> None:
        """Raises `StoppedRun` where there is nothing to finish first."""
        self.reason = self.reason or reason
        if self._at_once is not None:
            raise StoppedRun(f"stopped by {self.reason} {self._at_once}")

    @contextmanager
    def at_once(self, when: str) -> Iterator[None]:
        """Inside, a request ends the run where it is; `when` says what that means."""
        self._at_once = when
        try:
            if self.reason is not None:
                self.ask(self.reason)
            yield
        finally:
            self._at_once = None


@contextmanager
def stopping_on_signals(request: StopRequest) -> Iterator[StopRequest]:
    """Turn the first signal into a request; a second one does what it did before: it ends the program."""
    before: dict[int, Any] = {number: signal.getsignal(number) for number in SIGNALS}

    def handle(number: int, frame: FrameType | None) -> None:
        if not request:
            request.ask(signal.Signals(number).name)
        elif callable(before[number]):
            before[number](number, frame)
        else:
            signal.signal(number, before[number] or signal.SIG_DFL)
            signal.raise_signal(number)

    with _handled_by(handle):
        yield request


@contextmanager
def ending_on_signals() -> Iterator[None]:
    """For the command line: a signal that nobody else handles ends the process on the spot.

    Nothing is unwound, for that could wait long for a slow disk; what lies in the run folder stands any kill.
    """
    with _handled_by(_end):
        yield


def _end(number: int, _frame: FrameType | None) -> None:
    if sys.stdout.isatty():
        os.write(1, b"\x1b[?25h\n")  # a live display hides the cursor
    os.write(2, f"ended at once by {signal.Signals(number).name}\n".encode())
    os._exit(128 + number)


@contextmanager
def _handled_by(handler: Handler) -> Iterator[None]:
    """Only the main thread may set handlers: elsewhere (the Python API in a thread) signals are left alone."""
    try:
        previous = {number: signal.signal(number, handler) for number in SIGNALS}
    except ValueError:
        yield
        return
    try:
        yield
    finally:
        for number, before in previous.items():
            signal.signal(number, before)
