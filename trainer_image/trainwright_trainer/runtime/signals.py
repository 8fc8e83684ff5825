"""SIGINT and SIGTERM ask the loop to stop: it does so after its step, with a checkpoint. A second one ends at once.

A shell without job control ignores SIGINT for what it starts in the background, so that Ctrl-C is for others: what was
ignored stays ignored. In a pod none ends it at once: there the kubelet's SIGKILL is the end of all patience.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any

from trainwright_trainer.errors import StoppedRun

SIGNALS = (signal.SIGINT, signal.SIGTERM)
Handler = Callable[[int, FrameType | None], object]


class StopRequest:
    """A flag that the loop reads before every step. `reason` names who asked. For the main thread."""

    def __init__(self) -> None:
        self.reason: str | None = None
        self._at_once: str | None = None

    def __bool__(self) -> bool:
        return self.reason is not None

    def ask(self, reason: str) -> None:
        """Raises `StoppedRun` where there is nothing to finish first; once, for others may come while that unwinds."""
        self.reason = self.reason or reason
        when, self._at_once = self._at_once, None
        if when is not None:
            raise StoppedRun(f"stopped by {self.reason} {when}")

    def ask_from_a_thread(self, reason: str) -> None:
        """From any thread. What is to be ended where it is, only the main thread can end: a signal wakes it."""
        self.reason = self.reason or reason  # first: the main thread may be about to enter `at_once`
        if self._at_once is not None and (main := threading.main_thread().ident) is not None:
            signal.pthread_kill(main, signal.SIGTERM)

    def on_event(self, number: int, _frame: FrameType | None = None) -> None:
        """A handler of signals, for which the first request counts."""
        self.ask(signal.Signals(number).name)

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
            request.on_event(number)
        elif callable(before[number]):
            before[number](number, frame)
        else:
            signal.signal(number, before[number] or signal.SIG_DFL)
            signal.raise_signal(number)

    with _handled_by(handle, _heard()):
        yield request


@contextmanager
def stopping_in_a_pod(request: StopRequest) -> Iterator[StopRequest]:
    """Turn signals into a request, however many come."""
    with _handled_by(request.on_event, SIGNALS):
        yield request


@contextmanager
def ending_on_signals() -> Iterator[None]:
    """For the command line: a signal that nobody else handles ends the process on the spot.

    Nothing is unwound, for that could wait long for a slow disk; what lies in the run folder stands any kill.
    """
    with _handled_by(_end, _heard()):
        yield


def _end(number: int, _frame: FrameType | None) -> None:
    if sys.stdout.isatty():
        os.write(1, b"\x1b[?25h\n")  # a live display hides the cursor
    os.write(2, f"ended at once by {signal.Signals(number).name}\n".encode())
    os._exit(128 + number)


@contextmanager
def handlers_kept() -> Iterator[None]:
    """Around a library that sets handlers of its own: Ray ends a program by SIGTERM, on the spot and without a word."""
    before: dict[int, Any] = {number: signal.getsignal(number) for number in SIGNALS}
    try:
        yield
    finally:
        if threading.current_thread() is threading.main_thread():
            for number, handler in before.items():
                signal.signal(number, handler)


def _heard() -> list[signal.Signals]:
    """Those that whoever started this process did not have it ignore."""
    return [number for number in SIGNALS if signal.getsignal(number) is not signal.SIG_IGN]


@contextmanager
def _handled_by(handler: Handler, numbers: Iterable[signal.Signals]) -> Iterator[None]:
    """Only the main thread may set handlers: elsewhere (the Python API in a thread) signals are left alone."""
    try:
        previous = {number: signal.signal(number, handler) for number in numbers}
    except ValueError:
        yield
        return
    try:
        yield
    finally:
        for number, before in previous.items():
            signal.signal(number, before)
