"""Reports a run to a tracking server on a thread of its own. Training neither waits for it nor fails because of it."""

from __future__ import annotations

import queue
import threading
import time
from collections import deque
from collections.abc import Callable, Mapping
from typing import Any

from trainwright_trainer.callbacks.events import Ended, Evaluated, Event, Started
from trainwright_trainer.callbacks.mlflow_run import TrackedRun, is_refusal
from trainwright_trainer.callbacks.scalars import scalars_of

MAX_WAITING = 1_000
"""Requests that wait for the server. Further ones are lost."""
AGAIN_SECONDS = 5.0
LAST_SECONDS = 30.0
"""The longest wait at the end of a run for a server that answers."""
LAST_SECONDS_UNREACHED = 2.0

Request = Callable[[], None]


class Tracker:
    """A listener. It repeats a request until the server takes it, in the order of the events.

    `finish`: the last request of a run that ends well. `log`: prints a line; it is called on the training thread only.
    """

    def __init__(
        self,
        run: TrackedRun,
        parameters: Mapping[str, Any],
        finish: Callable[[TrackedRun], None],
        log: Callable[[str], None],
    ) -> None:
        self._run, self._parameters, self._finish, self._log = run, parameters, finish, log
        self._waiting: queue.Queue[Request | None] = queue.Queue(MAX_WAITING)
        self._lines: deque[str] = deque()
        self._lost = 0
        self._is_reached, self._has_ended = True, False
        self._closing = threading.Event()
        self._thread = threading.Thread(target=self._send_all, name="mlflow", daemon=True)

    def on_event(self, event: Event) -> None:
        if isinstance(event, Started):
            self._put(lambda: self._run.open(self._parameters, event.attempt))
            self._thread.start()
        elif isinstance(event, Evaluated | Ended):
            now, (step, scalars) = int(time.time() * 1000), scalars_of(event)
            self._put(lambda: self._run.log(step, scalars, now))
        if isinstance(event, Ended):
            self._put(lambda: self._finish(self._run))
            self._has_ended = True
        self._print()

    def close(self) -> None:
        """Wait for the last requests, but not long. Without `Ended`, the attempt has not reached its end."""
        if not self._thread.is_alive():
            return
        self._put(lambda: self._run.end(finished=self._has_ended))
        self._put(None)
        self._closing.set()
        self._thread.join(LAST_SECONDS if self._is_reached else LAST_SECONDS_UNREACHED)
        self._print()
        if lost := self._lost + max(self._waiting.qsize() - 1, 0):  # the last one is the end
            self._log(f"mlflow: {lost} requests could not be sent")

    def _put(self, request: Request | None) -> None:
        try:
            self._waiting.put_nowait(request)
        except queue.Full:
            self._lost += 1

    def _print(self) -> None:
        while self._lines:
            self._log(self._lines.popleft())

    def _send_all(self) -> None:
        while (request := self._waiting.get()) is not None:
            if not self._is_sent_in_time(request):
                self._lost += 1
                return

    def _is_sent_in_time(self, request: Request) -> bool:
        """Repeat a request until the server takes it. At the end of the run, a server that does not answer is given
        up."""
        while not self._sent(request):
            if self._closing.wait(AGAIN_SECONDS):
                return self._sent(request)
        return True

    def _sent(self, request: Request) -> bool:
        """True if the server took the request, or will never take it."""
        try:
            request()
        except Exception as error:  # a library's, of any kind
            line = str(error).partition("\n")[0] or type(error).__name__
            if is_refusal(error):
                self._lines.append(f"mlflow refuses a request: {line}")
                return True
            if self._is_reached:
                self._lines.append(f"mlflow is not reached, and training goes on: {line[:300]}")
            self._is_reached = False
            return False
        if not self._is_reached:
            self._lines.append("mlflow is reached again")
        self._is_reached = True
        return True
