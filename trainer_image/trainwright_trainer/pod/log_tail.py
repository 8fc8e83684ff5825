"""The end of what this process prints, kept for those who ask why it ended when its pod is gone."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from typing import Any, TextIO, cast

from trainwright_api.resource.messages import LOG_BYTES, last_bytes
from trainwright_api.resource.redaction import redacted_text

KEPT = 4 * LOG_BYTES
"""More than is told: secrets are taken out before it is cut, because half of one would not be known as one."""


class LogTail:
    """Of standard output and standard error together, as far as Python writes them."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._kept = ""
        self._cut = False

    @contextmanager
    def keeping(self, out: TextIO, err: TextIO) -> Iterator[LogTail]:
        """Inside, both streams are kept while they are written to. Neither is a terminal then."""
        with (
            redirect_stdout(cast(TextIO, _Kept(out, self._keep))),
            redirect_stderr(cast(TextIO, _Kept(err, self._keep))),
        ):
            yield self

    def text(self) -> str:
        """The last whole lines, without secrets, in at most 4 KiB."""
        with self._lock:
            kept = self._kept.partition("\n")[2] if self._cut else self._kept
        return last_bytes(redacted_text(kept), LOG_BYTES)

    def _keep(self, text: str) -> None:
        with self._lock:
            whole = self._kept + text
            self._kept, self._cut = whole[-KEPT:], self._cut or len(whole) > KEPT


class _Kept:
    """A stream that hands on what is written to it."""

    def __init__(self, stream: TextIO, keep: Callable[[str], None]) -> None:
        self._stream, self._keep = stream, keep

    def write(self, text: str) -> int:
        self._keep(text)
        return self._stream.write(text)

    def isatty(self) -> bool:
        """No colours, and no lines that are drawn anew."""
        return False

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)
