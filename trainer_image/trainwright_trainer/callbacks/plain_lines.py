"""Progress without a terminal: a few plain lines, no control characters."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TextIO

from trainwright_trainer.callbacks import formats
from trainwright_trainer.callbacks.events import Checkpointed, Ended, Evaluated, Event, Started, Stepped
from trainwright_trainer.callbacks.lines import FunctionLines, Readings, data_items, setting_items
from trainwright_trainer.callbacks.ranks import Naming
from trainwright_trainer.callbacks.throughput import Throughput

EVERY_SECONDS = 15.0


class PlainProgress:
    """A listener that prints one line at the start, every 15 s, and at each evaluation round."""

    def __init__(self, stream: TextIO, *, clock: Callable[[], float] = time.monotonic) -> None:
        self._stream = LineStream(stream)
        self._clock = clock
        self._next = clock() + EVERY_SECONDS
        self._epochs = 0
        self._resting = True
        self._naming = Naming()
        self._function = FunctionLines()

    def on_event(self, event: Event) -> None:
        if isinstance(event, Stepped):
            now = self._clock()
            if now >= self._next:
                self._step(event, now)
            elif self._resting:
                # The first step after a pause: throughput is measured from here.
                self._throughput.saw(event, now)
                self._resting = False
        elif isinstance(event, Started):
            self._start(event)
        elif isinstance(event, Evaluated):
            self._round(event)
        elif isinstance(event, Checkpointed):
            if event.error:
                self._stream.line(f"checkpoint {event.name} could not be written: {event.error}")
        elif isinstance(event, Ended):
            self._end(event)
        elif (shown := self._function.of(event)) is not None:
            self._stream.line(shown)

    def close(self) -> None:
        """Does nothing: the caller owns the stream."""

    def _start(self, event: Started) -> None:
        self._epochs = event.epochs
        self._throughput = Throughput(event, self._clock())
        self._readings = Readings(event)
        self._stream.line(f"{event.name}: " + " · ".join(data_items(event)))
        self._stream.line(f"{event.name}: " + " · ".join(setting_items(event)))
        self._next = self._clock() + EVERY_SECONDS

    def _step(self, event: Stepped, now: float) -> None:
        self._next = now + EVERY_SECONDS
        self._throughput.saw(event, now)
        left = f"{formats.clock(self._throughput.left_in_all(event, now))} left"
        done = formats.share(event.epoch_rows / max(1, event.train_rows))
        speed = f"{formats.rate(self._throughput.rows_per_second)} rows/s"
        self._stream.line(f"{self._epoch(event.epoch)} · {done} · {speed} · {left}")

    def _round(self, event: Evaluated) -> None:
        self._next = self._clock() + EVERY_SECONDS
        self._throughput.paused(event.rows_per_second)
        self._resting = True
        readings = [str(reading) for reading in self._readings.of(event)]
        speed = f"{formats.rate(event.rows_per_second)} rows/s"
        self._stream.line(" · ".join([self._epoch(event.epoch), *readings, speed, formats.duration(event.seconds)]))
        if named := self._naming.of(event):
            self._stream.line(named)

    def _end(self, event: Ended) -> None:
        for line in event.lines:
            self._stream.line(line)

    def _epoch(self, epoch: int) -> str:
        return f"epoch {epoch + 1}/{self._epochs}"


class LineStream:
    """A text stream of whole lines. It never stops a run: neither its encoding nor a closed pipe raises.

    It writes nothing more after the reader closes the pipe.
    """

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
