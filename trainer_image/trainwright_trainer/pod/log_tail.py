"""The last lines that this process prints. They explain the outcome after the pod is deleted."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from typing import Any, TextIO, cast

from trainwright_api.resource.messages import LOG_BYTES, last_bytes
from trainwright_api.resource.redaction import redacted_text

KEPT = 4 * LOG_BYTES
"""Characters that are kept, more than are sent: redaction precedes the cut, as it cannot recognise half a secret."""


class LogTail:
    """The tail of standard output and standard error together. It has only the text that Python writes.

    `whole` also receives the text.
    """

    def __init__(self, whole: Callable[[str], None] | None = None) -> None:
        self._whole = whole
        self._lock = threading.Lock()
        self._kept = ""
        self._cut = False

    @contextmanager
    def keeping(self, out: TextIO, err: TextIO) -> Iterator[LogTail]:
        """Inside the context, keep a copy of the text of both streams. `isatty` of both is False."""
        with (
            redirect_stdout(cast(TextIO, _Kept(out, self._keep))),
            redirect_stderr(cast(TextIO, _Kept(err, self._keep))),
        ):
            yield self

    def text(self) -> str:
        """The last complete lines, at most 4 KiB, with secrets redacted."""
        with self._lock:
            kept = self._kept.partition("\n")[2] if self._cut else self._kept
        return last_bytes(redacted_text(kept), LOG_BYTES)

    def _keep(self, text: str) -> None:
        with self._lock:
            whole = self._kept + text
            self._kept, self._cut = whole[-KEPT:], self._cut or len(whole) > KEPT
            if self._whole is not None:
                self._whole(text)


class _Kept:
    """A stream that copies its text to `keep`."""

    def __init__(self, stream: TextIO, keep: Callable[[str], None]) -> None:
        self._stream, self._keep = stream, keep

    def write(self, text: str) -> int:
        self._keep(text)
        return self._stream.write(text)

    def isatty(self) -> bool:
        """False: no colours and no redrawn lines in the log."""
        return False

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)
