"""A text stream of whole lines that never stops a run: neither its encoding nor a closed pipe raises."""

from __future__ import annotations

from typing import TextIO

from trainwright_trainer.callbacks import formats


class LineStream:
    """Writes and flushes lines; writes nothing more after the reader closes the pipe."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self._open = True

    def line(self, text: str) -> None:
        """Write one line. Characters that the stream cannot encode are replaced; control characters become `?`."""
        if not self._open:
            return
        try:
            self._stream.write(formats.encodable(text, self._stream.encoding) + "\n")
            self._stream.flush()
        except BrokenPipeError:
            # `trainwright train … | head`: training continues without its progress lines.
            self._open = False
