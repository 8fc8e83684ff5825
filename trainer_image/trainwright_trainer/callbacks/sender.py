"""Sends messages to a tracking server: in order, repeated, and in a bounded number."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable
from typing import Any

from trainwright_trainer.callbacks.formats import counted
from trainwright_trainer.callbacks.mlflow_run import TrackedRun, is_refusal

MAX_WAITING = 1_000
"""Messages that wait for the server. Further rounds are lost."""
AGAIN_SECONDS = 5.0
LAST_SECONDS_UNREACHED = 2.0
"""The wait at the end for a server that does not answer."""
Message = tuple[str, tuple[Any, ...]]


class Sender:
    """A thread that calls a method of the run for each message, and again until the server takes it.

    Scores that wait for the server become one call. `last_seconds`: the longest wait of `close`. `log`: prints a line.
    """

    def __init__(self, run: TrackedRun, log: Callable[[str], None], last_seconds: float) -> None:
        self._run, self._log, self._last_seconds = run, log, last_seconds
        self._waiting: deque[Message] = deque()
        self._changed = threading.Condition()
        self._lost = self._unsent = 0  # `_unsent`: the messages of the present call
        self._is_reached = True
        self._has_run = True
        """False once the server has refused the run: then no other request has a run to go to."""
        self._refusal = ""
        self._closing = threading.Event()
        self._thread = threading.Thread(target=self._send_all, name="sender", daemon=True)
        self._thread.start()

    def put(self, name: str, *arguments: Any) -> None:
        """Add a message: the name of a method of `TrackedRun`, and its arguments; for `log` one of its rounds."""
        with self._changed:
            if name != "log" or len(self._waiting) < MAX_WAITING:
                self._waiting.append((name, arguments))
            else:
                self._lost += 1
            self._changed.notify()

    def close(self, *, finished: bool) -> None:
        """Send the end, and wait for the last messages, but not long."""
        self.put("end", finished)
        self._closing.set()
        self._thread.join(self._last_seconds if self._is_reached else LAST_SECONDS_UNREACHED)
        with self._changed:
            lost = self._lost + self._unsent + len(self._waiting)
        if lost and self._has_run:
            self._log(f"mlflow: {counted(lost, 'request')} could not be sent")

    def _send_all(self) -> None:
        name = ""
        while name != "end":
            name, arguments = self._next()
            is_sent = self._is_sent_in_time(name, arguments)
            if not self._has_run or (name == "open" and not is_sent):
                return
            with self._changed:
                self._lost += 0 if is_sent else self._unsent
                self._unsent = 0

    def _next(self) -> Message:
        """The next message, with all rounds that wait behind it if it has scores."""
        with self._changed:
            self._changed.wait_for(lambda: self._waiting)
            name, arguments = self._waiting.popleft()
            rounds = [arguments]
            while name == "log" and self._waiting and self._waiting[0][0] == name:
                rounds.append(self._waiting.popleft()[1])
            self._unsent = len(rounds)
            return name, (rounds,) if name == "log" else arguments

    def _is_sent_in_time(self, name: str, arguments: tuple[Any, ...]) -> bool:
        """Repeat a call until the server takes it. At the end of the run, a server that does not answer is given up."""
        while not self._sent(name, arguments):
            if self._closing.wait(AGAIN_SECONDS):
                return self._sent(name, arguments)
        return True

    def _sent(self, name: str, arguments: tuple[Any, ...]) -> bool:
        """True if the server took the message, or will never take it."""
        try:
            getattr(self._run, name)(*arguments)
        except Exception as error:  # a library's, of any kind
            line = str(error).partition("\n")[0] or type(error).__name__
            if is_refusal(error):
                self._refused(name, line)
                return True
            if self._is_reached:
                self._log(f"mlflow is not reached, and training goes on: {line[:300]}")
            self._is_reached = False
            return False
        if not self._is_reached:
            self._log("mlflow is reached again")
        self._is_reached = True
        return True

    def _refused(self, name: str, line: str) -> None:
        """Print why, once for the same reason: a server that refuses one round refuses the next, too."""
        self._has_run = name != "open"
        if line != self._refusal:
            what = "a request" if self._has_run else "the run, and training goes on without it"
            self._log(f"mlflow refuses {what}: {line}")
        self._refusal = line
