"""A text stream that takes whole lines and never stops a run: neither by its encoding nor by a reader who left."""

from __future__ import annotations

from typing import TextIO

from trainwright_trainer.callbacks import formats


class LineStream:
    """Writes and flushes lines; goes quiet when the pipe is closed at the other end."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self._open = True

    def line(self, text: str) -> None:
        """One line. Signs that the stream cannot encode are replaced, control characters shown as `?`."""
        if not self._open:
            return
        try:
            self._stream.write(formats.encodable(text, self._stream.encoding) + "\n")
            self._stream.flush()
        except BrokenPipeError:
            # `trainwright train … | head`: training is worth more than its progress lines.
            self._open = False
