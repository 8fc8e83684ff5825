"""The live display in a terminal: a header and a line for each finished round, which stay, above a bar."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from typing import TextIO

from rich.console import Console
from rich.live import Live
from rich.text import Text

from trainwright_trainer.callbacks import formats
from trainwright_trainer.callbacks.events import Checkpointed, Ended, Evaluated, Event, Started, Stepped
from trainwright_trainer.callbacks.lines import FunctionLines, Reading, Readings, data_items, setting_items
from trainwright_trainer.callbacks.ranks import Naming
from trainwright_trainer.callbacks.throughput import Throughput

# The share of the time that drawing may take. A slow terminal is redrawn less often, but at least once a second.
DRAWING_SHARE = 0.005
INTERVALS = (0.1, 1.0)
_LABEL = 8
_INDENT = " " * (_LABEL + 2)
_BAR = (8, 40)
_SEPARATOR = " · "


class TerminalProgress:
    """A listener that redraws the bar from `on_event`, on the training thread, at most ten times a second.

    rich's own refresh thread is off, because it would take the GIL at any time. `on_event` of a step reads the clock
    once unless a redraw is due. `close` may be called at any time and more than once; it restores the cursor.
    """

    def __init__(
        self, stream: TextIO, *, clock: Callable[[], float] = time.monotonic, console: Console | None = None
    ) -> None:
        self._clock = clock
        self._console = console or Console(file=stream, highlight=False, emoji=False, markup=False)
        self._live: Live | None = None
        self._next = clock()
        self._epochs = 0
        self._step: Stepped | None = None
        self._naming = Naming()
        self._function = FunctionLines()

    def on_event(self, event: Event) -> None:
        if isinstance(event, Stepped):
            self._step = event
            now = self._clock()
            if now >= self._next:
                self._throughput.saw(event, now)
                self._draw(now)
            return
        if isinstance(event, Started):
            self._start(event)
        elif isinstance(event, Evaluated):
            self._throughput.paused(event.rows_per_second)
            for scores in self._round_lines(event):
                self._print(scores)
            if named := self._naming.of(event):
                self._print(Text(named, "yellow"))
            self._draw(self._clock())
        elif isinstance(event, Checkpointed):
            if event.error:
                self._print(Text(f"checkpoint {event.name} could not be written: {event.error}", "yellow"))
        elif isinstance(event, Ended):
            self.close()
            for line in event.lines:
                self.show(line)
        elif (shown := self._function.of(event)) is not None:
            self._print(Text(shown))

    def close(self) -> None:
        live, self._live = self._live, None
        if live is not None:
            live.stop()

    def show(self, line: str) -> None:
        """Print a line above the bar, from any thread."""
        for part in self._broken(line):
            self._print(Text(part))

    def _start(self, event: Started) -> None:
        now = self._clock()
        self._epochs = event.epochs
        self._throughput = Throughput(event, now)
        self._readings = Readings(event)
        for line in self._header(event):
            self._print(line)
        self._live = Live(console=self._console, auto_refresh=False, vertical_overflow="crop", transient=True)
        self._step = Stepped(event.epoch, event.step, 0, max(1, event.split_rows.get("train", 1)), event.learning_rate)
        self._live.start()
        self._draw(now)

    def _draw(self, now: float) -> None:
        if self._live is None:
            return
        self._live.update(self._picture(now), refresh=True)
        cost = self._clock() - now
        self._next = now + min(max(INTERVALS[0], cost / DRAWING_SHARE), INTERVALS[1])

    def _picture(self, now: float) -> Text:
        lines = [self._safe(line) for line in self._bar_lines(now)]
        return Text("\n", no_wrap=True, overflow="ellipsis").join(lines)

    def _header(self, event: Started) -> list[Text]:
        room = self._width - len(_INDENT)
        name = formats.shorten(event.name, max(_LABEL, room // 3))
        first, *rest = formats.wrap(data_items(event), room - max(0, len(name) - _LABEL))
        more = [*rest, *formats.wrap(setting_items(event), room)]
        top = Text.assemble((name.ljust(_LABEL), "bold"), "  ", first)
        return [top, *(Text(_INDENT + line, "dim") for line in more)]

    def _bar_lines(self, now: float) -> list[Text]:
        step = self._step
        assert step is not None
        fraction = min(1.0, step.epoch_rows / max(1, step.train_rows))
        label = self._label(step.epoch)
        done, speed = f" {formats.share(fraction):>5}", f"{formats.rate(self._throughput.rows_per_second)} rows/s"
        left, all_left = self._throughput.left_in_epoch(step), self._throughput.left_in_all(step, now)
        times = f"{formats.clock(left)} left in epoch, {formats.clock(all_left)} in all"
        right = f"   {speed:>11}   {times}"
        room = self._width - len(label) - 2 - len(done)
        fits = room - len(right) >= _BAR[0]
        bar = _bar(fraction, min(_BAR[1], room - len(right) if fits else room))
        top = Text.assemble((label, "bold"), "  ", bar, done)
        if fits:
            return [top.append(right, "dim")]
        return [
            top,
            *(Text(_INDENT + line, "dim") for line in formats.wrap([speed, times], self._width - len(_INDENT))),
        ]

    def _round_lines(self, event: Evaluated) -> list[Text]:
        """The scores of a finished round, in as many lines as the width needs, and its speed if there is room."""
        lines = [Text.assemble((self._label(event.epoch), "bold"), "  ")]
        for reading in self._readings.of(event):
            text = _reading(reading)
            gap = "" if lines[-1].plain.endswith("  ") else "  "
            if lines[-1].cell_len + len(gap) + text.cell_len > self._width and gap:
                lines.append(Text.assemble(_INDENT, text))
            else:
                lines[-1] = Text.assemble(lines[-1], gap, text)
        speed = f"   {formats.rate(event.rows_per_second)} rows/s"
        if len(lines) == 1 and lines[0].cell_len + len(speed) <= self._width:
            lines[0].append(speed, "dim")
        return lines

    def _broken(self, line: str) -> list[str]:
        """The line, broken between its items if it is too wide. A longer item is left whole: it may be a path."""
        items = line.split(_SEPARATOR)
        if len(line) <= self._width or any(len(item) > self._width for item in items):
            return [line]
        return formats.wrap(items, self._width)

    def _label(self, epoch: int) -> str:
        return f"epoch {str(epoch + 1).rjust(len(str(self._epochs)))}/{self._epochs}".ljust(_LABEL)

    @property
    def _width(self) -> int:
        return max(30, self._console.width)

    def _print(self, text: Text) -> None:
        self._console.print(self._safe(text), soft_wrap=True)

    def _safe(self, text: Text) -> Text:
        """Replaces character by character, so that the styles keep their positions."""
        text.plain = formats.encodable(text.plain, self._console.encoding)
        return text


def _bar(fraction: float, width: int) -> Text:
    """Heavy line for the done part, light line for the rest: readable without colour."""
    halves = math.floor(fraction * width * 2)
    full, half = divmod(halves, 2)
    done = "━" * full + "╸" * half
    return Text.assemble((done, "green" if fraction >= 1 else "cyan"), ("─" * (width - len(done)), "dim"))


def _reading(reading: Reading) -> Text:
    colour = "" if reading.better is None else "green" if reading.better else "yellow"
    best = "best" if reading.is_best else ""
    words = [(reading.label, "dim"), (reading.value, "bold"), (reading.arrow, colour), (best, "dim")]
    return Text(" ").join(Text(word, style) for word, style in words if word)
