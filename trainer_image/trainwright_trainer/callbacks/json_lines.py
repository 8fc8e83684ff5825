"""`--json`: one JSON object per event and line, for programs. NaN and infinity become null."""

from __future__ import annotations

import json
import math
import time
from collections.abc import Callable, Mapping
from typing import Any, TextIO

from trainwright_trainer.callbacks.events import Evaluated, Event, RankRound, Started, Stepped
from trainwright_trainer.callbacks.plain_lines import LineStream
from trainwright_trainer.callbacks.throughput import Throughput

EVERY_SECONDS = 1.0


class JsonLines:
    """A listener that writes `{"event": "evaluated", …}`, with the fields of `callbacks.events`; epochs count from 0.

    Steps are written at most once a second, with rows_per_second and seconds_left added.
    """

    def __init__(self, stream: TextIO, *, clock: Callable[[], float] = time.monotonic) -> None:
        self._stream = LineStream(stream)
        self._clock = clock
        self._next = clock()

    def on_event(self, event: Event) -> None:
        if not isinstance(event, Stepped):
            if isinstance(event, Started):
                self._throughput = Throughput(event, self._clock())
            elif isinstance(event, Evaluated):
                self._throughput.paused(event.rows_per_second)
            self._write(event)
            return
        now = self._clock()
        if now >= self._next:
            self._next = now + EVERY_SECONDS
            self._throughput.saw(event, now)
            speed, left = self._throughput.rows_per_second, self._throughput.left_in_all(event, now)
            self._write(event, rows_per_second=speed, seconds_left=left)

    def close(self) -> None:
        """Does nothing: the caller owns the stream."""

    def _write(self, event: Event, **more: float) -> None:
        fields = {"event": type(event).__name__.lower(), **vars(event), **more}
        self._stream.line(json.dumps(nan_to_none(fields), allow_nan=False))


def nan_to_none(value: Any) -> Any:
    """Return the JSON value with null in place of NaN and infinity, which JSON lacks."""
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, Evaluated | RankRound):
        return nan_to_none(vars(value))
    if isinstance(value, Mapping):
        return {key: nan_to_none(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [nan_to_none(item) for item in value]
    return value
