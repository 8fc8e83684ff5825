"""The lines that a worker prints, for the log of the driver. They also go to the worker's own stream."""

from __future__ import annotations

import io
import sys
from collections.abc import Callable


class WorkerLines(io.TextIOBase):
    """A text stream that passes each whole line to `send`, on the thread that writes it.

    Ranks above 0 are named. Of a progress bar, which is redrawn by carriage returns, only its last state is a line.
    """

    encoding = "utf-8"

    def __init__(self, rank: int, send: Callable[[str], None]) -> None:
        self._prefix = f"rank {rank}: " if rank else ""
        self._send = send
        self._own = sys.stdout
        self._rest = ""

    def writable(self) -> bool:
        return True

    def write(self, text: str) -> int:
        self._own.write(text)
        *lines, self._rest = (self._rest + text).split("\n")
        for line in lines:
            self._pass_on(line)
        self._rest = self._rest[self._rest.rfind("\r") + 1 :]
        return len(text)

    def finish(self) -> None:
        """Pass on the last line, which has no end."""
        rest, self._rest = self._rest, ""
        self._pass_on(rest)

    def _pass_on(self, line: str) -> None:
        shown = line.rstrip("\r").rpartition("\r")[2].rstrip()
        if shown:
            self._send(self._prefix + shown)
