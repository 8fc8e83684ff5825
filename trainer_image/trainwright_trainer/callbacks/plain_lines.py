"""Progress without a terminal: a few plain lines, no control characters."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable
from contextlib import suppress
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
    """A text stream of whole lines. It never stops a run: its encoding, a closed pipe and a full disk raise nothing.

    It writes nothing more after the stream has refused a line. Unless its reader has left, stderr gets one line then.
    """

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self._open = True

    def line(self, text: str) -> None:
        """Write one line. Characters that the stream cannot encode are replaced; control characters become `?`."""
        self.as_it_is(formats.encodable(text, self._stream.encoding))

    def as_it_is(self, text: str) -> None:
        """Write one line, with all its characters."""
        if not self._open:
            return
        try:
            # One write for each line, because notices may come from two threads.
            self._stream.write(f"{text}\n")
            self._stream.flush()
        except OSError as error:
            # `trainwright train … | head`: training continues without its progress lines.
            self._open = False
            with suppress(OSError):  # a stream in memory has no file
                flush_or_discard(self._stream)
            if not isinstance(error, BrokenPipeError):
                with suppress(OSError):
                    print(f"the output cannot be written: {error.strerror or error}", file=sys.stderr)


def flush_or_discard(stream: TextIO) -> None:
    """Lead what a stream cannot write, and all that follows, to the null device.

    Otherwise Python tries it again when it ends, prints a traceback and exits with 120.
    """
    try:
        stream.flush()
    except OSError:
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, stream.fileno())
        os.close(nowhere)
