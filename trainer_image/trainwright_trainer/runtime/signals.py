"""SIGINT and SIGTERM request a stop: the loop finishes its step and writes a checkpoint. A second one ends at once.

A shell without job control makes its background processes ignore SIGINT, so that Ctrl-C does not reach them. A signal
that is ignored at the start stays ignored. In a pod no signal ends the process at once; the kubelet sends SIGKILL
after the grace period.
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
    """A flag that the loop reads before every step. `reason` names the source. For the main thread only."""

    decides = False
    """True if a request may follow from the scores of a round. A gang then waits for it after each round."""

    def __init__(self) -> None:
        self.reason: str | None = None
        self._at_once: str | None = None

    def __bool__(self) -> bool:
        return self.reason is not None

    def ask(self, reason: str) -> None:
        """Request a stop. Inside `at_once` it raises `StoppedRun`, once: more requests may come while that unwinds."""
        self.reason = self.reason or reason
        when, self._at_once = self._at_once, None
        if when is not None:
            raise StoppedRun(f"stopped by {self.reason} {when}")

    def ask_from_a_thread(self, reason: str) -> None:
        """Request a stop from any thread. Inside `at_once` a signal makes the main thread end the run."""
        self.reason = self.reason or reason  # first: the main thread may be about to enter `at_once`
        if self._at_once is not None and (main := threading.main_thread().ident) is not None:
            signal.pthread_kill(main, signal.SIGTERM)

    def on_event(self, number: int, _frame: FrameType | None = None) -> None:
        """A signal handler. The first request sets the reason."""
        self.ask(signal.Signals(number).name)

    @contextmanager
    def at_once(self, when: str) -> Iterator[None]:
        """Inside the context, a request ends the run immediately. `when` completes the message `stopped by …`."""
        self._at_once = when
        try:
            if self.reason is not None:
                self.ask(self.reason)
            yield
        except Exception as error:
            # A library may replace the exception of the handler by its own: Ray's C++ code raises SystemError.
            if self.reason is None or isinstance(error, StoppedRun):
                raise
            raise StoppedRun(f"stopped by {self.reason} {when}") from error
        finally:
            self._at_once = None


@contextmanager
def stopping_on_signals(request: StopRequest) -> Iterator[StopRequest]:
    """Turn the first signal into a request. A second one goes to the previous handler, which ends the program."""
    before: dict[int, Any] = {number: signal.getsignal(number) for number in SIGNALS}

    def handle(number: int, frame: FrameType | None) -> None:
        if not request:
            request.on_event(number)
        elif callable(before[number]):
            before[number](number, frame)
        else:
            signal.signal(number, before[number] or signal.SIG_DFL)
            signal.raise_signal(number)

    with _handled_by(handle, _stop_signals()):
        yield request


@contextmanager
def stopping_in_a_pod(request: StopRequest) -> Iterator[StopRequest]:
    """Turn all signals into requests."""
    with _handled_by(request.on_event, SIGNALS):
        yield request


@contextmanager
def ending_on_signals() -> Iterator[None]:
    """For the command line: a signal without another handler ends the process at once.

    Nothing is unwound, because that could wait long for a slow disk. The run folder is consistent after any kill.
    """
    with _handled_by(_end, _stop_signals()):
        yield


def _end(number: int, _frame: FrameType | None) -> None:
    if sys.stdout.isatty():
        os.write(1, b"\x1b[?25h\n")  # a live display hides the cursor
    os.write(2, f"ended at once by {signal.Signals(number).name}\n".encode())
    os._exit(128 + number)


@contextmanager
def handlers_kept() -> Iterator[None]:
    """Restore the handlers after calls into a library that sets its own. Ray's ends the program silently on SIGTERM."""
    before: dict[int, Any] = {number: signal.getsignal(number) for number in SIGNALS}
    try:
        yield
    finally:
        if threading.current_thread() is threading.main_thread():
            for number, handler in before.items():
                signal.signal(number, handler)


def _stop_signals() -> list[signal.Signals]:
    """The signals that this process was not started to ignore."""
    return [number for number in SIGNALS if signal.getsignal(number) is not signal.SIG_IGN]


@contextmanager
def _handled_by(handler: Handler, numbers: Iterable[signal.Signals]) -> Iterator[None]:
    """Set `handler` inside the context. Outside the main thread (the Python API in a thread) Python allows no handlers;
    then nothing changes.
    """
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
