"""Reports a run to a tracking server from a process of its own. Training neither waits for it nor fails because of it.

The process imports MLflow's client and waits for the server (`tracking_process.py`). In a thread beside training, both
would hold Python's lock.
"""

from __future__ import annotations

import json
import queue
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import Any

from trainwright_trainer.callbacks.events import Ended, Evaluated, Event, Started
from trainwright_trainer.callbacks.scalars import scalars_of

LAST_SECONDS = 30.0
"""The longest wait at the end of a run for a server that answers."""
_EXIT_SECONDS = 10.0
"""The seconds that the process may take beyond that."""
COMMAND = (sys.executable, "-m", "trainwright_trainer.callbacks.tracking_process")


class Tracker:
    """A listener. It sends one line of JSON for each message to the process, in the order of the events.

    `address`: the arguments of `MlflowRun`. `finish`: the names and texts of the run's files, and the place of its
    model; it is called at the end. `log`: prints a line; it is called on the training thread only.
    """

    def __init__(
        self,
        address: Sequence[str],
        parameters: Mapping[str, Any],
        finish: Callable[[], tuple[Mapping[str, str], str]],
        log: Callable[[str], None],
        command: Sequence[str] = COMMAND,
    ) -> None:
        self._address, self._parameters, self._finish, self._log = address, parameters, finish, log
        self._command = command
        self._lines: queue.SimpleQueue[bytes | None] = queue.SimpleQueue()
        self._process: subprocess.Popen[bytes] | None = None
        self._printed: queue.SimpleQueue[str] = queue.SimpleQueue()
        self._reader = threading.Thread(target=self._read_all, name="mlflow lines", daemon=True)
        self._has_ended = False

    def on_event(self, event: Event) -> None:
        if isinstance(event, Started):
            self._start()
            self._send("open", dict(self._parameters), event.attempt)
        elif isinstance(event, Evaluated | Ended):
            self._send("log", *scalars_of(event), int(time.time() * 1000))
        if isinstance(event, Ended):
            self._has_ended = True
            self._send("artifacts", *self._finish())
        self._print()

    def close(self) -> None:
        """Wait for the last requests, but not long. Without `Ended`, the attempt has not reached its end."""
        if self._process is None:
            return
        self._send("end", self._has_ended)
        self._lines.put(None)
        try:
            code = self._process.wait(LAST_SECONDS + _EXIT_SECONDS)
        except subprocess.TimeoutExpired:
            self._process.kill()
            code = self._process.wait()
        self._reader.join()
        self._print()
        if code:
            self._log(f"mlflow: the process that sends the requests has ended with exit code {code}")

    def _start(self) -> None:
        # In a process group of its own, so that Ctrl-C reaches it only through this process. In a session of its own,
        # Linux would give it as much of the CPUs as all of this process, whatever its niceness (autogroup).
        pipe = subprocess.PIPE
        self._process = subprocess.Popen(self._command, stdin=pipe, stdout=pipe, process_group=0)
        self._reader.start()
        threading.Thread(target=self._write_all, args=(self._process.stdin,), name="mlflow", daemon=True).start()
        self._send("run", list(self._address), LAST_SECONDS)

    def _send(self, message: str, *arguments: Any) -> None:
        self._lines.put(json.dumps([message, *arguments], default=str).encode() + b"\n")

    def _write_all(self, pipe: Any) -> None:
        """Write the lines on a thread, because a full pipe blocks its writer."""
        with suppress(OSError), pipe:  # an error: the process has ended, which `close` says
            while (line := self._lines.get()) is not None:
                pipe.write(line)
                pipe.flush()

    def _read_all(self) -> None:
        """Read the lines of the process on a thread. A read in every step would cost 1 % of a step of 5 ms."""
        assert self._process is not None
        assert self._process.stdout is not None
        with self._process.stdout as pipe:
            for line in pipe:
                self._printed.put(line.decode().rstrip("\n"))

    def _print(self) -> None:
        """Print the lines that the process has written."""
        while not self._printed.empty():
            self._log(self._printed.get())
