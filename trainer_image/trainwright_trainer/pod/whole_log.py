"""The whole log of this process, in the run folder: `logs/attempt-N/<stage>-<rank>.log`.

A local file holds it. It is sent as a whole every minute, because a store cannot append, and at the end. So a killed
process loses the last minute at most.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from tempfile import TemporaryFile
from types import TracebackType
from typing import Self

from trainwright_api.problems import Mistakes
from trainwright_api.resource.redaction import redacted_text
from trainwright_trainer.errors import EnvironmentFailure
from trainwright_trainer.storage.base import Storage

SEND_SECONDS = 60.0
MOST_BYTES = 256 * 2**20
"""The maximum of the file. The text after that is dropped, because the node's disk is limited."""
CUT = "… the log is longer than {:,} MiB; the rest was not kept\n"


class WholeLog:
    """Inside the context, text that is added is kept and sent. Secrets of a known form are redacted in each line.

    `storage` opens the run folder. It may raise Mistakes and EnvironmentFailure, like the storage itself.
    """

    def __init__(self, storage: Callable[[], Storage], name: str, *, most: int = MOST_BYTES) -> None:
        self._open, self._name, self._most = storage, name, most
        self._storage: Storage | None = None
        self._file = TemporaryFile(prefix="trainwright-log-")  # noqa: SIM115  # until the end of the context
        self._lock, self._sending = threading.Lock(), threading.Lock()
        self._size = self._sent = 0
        self._cut = False
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._send_regularly, daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._ended.set()
        self._thread.join()
        self._file.close()

    def add(self, text: str) -> None:
        data = text.encode(errors="backslashreplace")
        with self._lock:
            if self._cut or self._file.closed:
                return
            if self._size + len(data) > self._most:
                self._cut, data = True, ("\n" + CUT.format(self._most // 2**20)).encode()
            self._file.seek(0, 2)
            self._file.write(data)
            self._size += len(data)

    def send(self) -> str:
        """Write what was added since to the run folder. Return why that is not possible, "" if it is."""
        with self._sending:
            size = self._size
            if size == self._sent:
                return ""
            try:
                self._storage = self._storage or self._open()
                self._storage.write(self._name, self._lines(size), durable=False)
            except (Mistakes, EnvironmentFailure) as error:
                return str(error).partition("\n")[0]
            self._sent = size
            return ""

    def _lines(self, size: int) -> Iterator[bytes]:
        at = 0
        while at < size:
            with self._lock:
                self._file.seek(at)
                line = self._file.readline(size - at)
            at += len(line)
            yield redacted_text(line.decode(errors="replace")).encode(errors="replace")

    def _send_regularly(self) -> None:
        while not self._ended.wait(SEND_SECONDS):
            self.send()
