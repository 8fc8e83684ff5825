"""The displays of a search: a table in a terminal, lines elsewhere, and JSON for programs."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from typing import Protocol, TextIO

from rich.console import Console
from rich.live import Live

from trainwright_trainer.callbacks.json_lines import nan_to_none
from trainwright_trainer.callbacks.plain_lines import LineStream
from trainwright_trainer.search import words
from trainwright_trainer.search.log import SearchLog
from trainwright_trainer.search.table import picture
from trainwright_trainer.search.trials import Trial, ended, ranked
from trainwright_trainer.search.words import SearchPlan

EVERY_SECONDS = 0.5


class Display(Protocol):
    """`changed`: after each event of a trial; `tick`: often. `close` may be called more than once."""

    def changed(self, trial: Trial, log: SearchLog) -> None: ...

    def tick(self, log: SearchLog) -> None: ...

    def close(self) -> None: ...


class NoDisplay:
    """For a quiet run."""

    def changed(self, trial: Trial, log: SearchLog) -> None:
        """Does nothing."""

    def tick(self, log: SearchLog) -> None:
        """Does nothing."""

    def close(self) -> None:
        """Does nothing."""


class PlainTrials(NoDisplay):
    """One line when a trial begins, and one when it ends."""

    def __init__(self, plan: SearchPlan, stream: TextIO) -> None:
        self._plan, self._stream = plan, LineStream(stream)

    def changed(self, trial: Trial, log: SearchLog) -> None:
        if trial.end is not None:
            self._stream.line(words.end_line(self._plan, trial, log.trials))
        elif not trial.scores:
            self._stream.line(words.begin_line(trial))


class JsonTrials(NoDisplay):
    """One object for each event of a trial: `{"event": "trial", "trial": "0001", "state": "running", …}`."""

    def __init__(self, plan: SearchPlan, stream: TextIO) -> None:
        self._plan, self._stream = plan, LineStream(stream)

    def changed(self, trial: Trial, log: SearchLog) -> None:
        best = next(iter(ranked(log.trials, self._plan.objective)), None)
        last = trial.scores[-1] if trial.scores else None
        self._stream.line(
            json.dumps(
                nan_to_none(
                    {
                        "event": "trial",
                        "trial": trial.id,
                        "state": trial.state,
                        "values": trial.values,
                        "score": trial.score,
                        "epoch": None if last is None else last.epoch,
                        "line": trial.end.line if trial.end else "",
                        "parent": trial.origin.trial if trial.origin else None,
                        "ended": ended(log.trials),
                        "total": self._plan.total,
                        "best": None if best is None else {"trial": best.id, "score": best.score},
                    }
                ),
                allow_nan=False,
            )
        )


class LiveTrials:
    """A table of the trials in a terminal: those that run, then the best. It is drawn at most twice a second."""

    def __init__(self, plan: SearchPlan, console: Console, *, clock: Callable[[], float] = time.monotonic) -> None:
        self._plan, self._clock, self._next = plan, clock, clock()
        self._live: Live | None = Live(console=console, auto_refresh=False, vertical_overflow="crop")
        self._live.start()

    def changed(self, trial: Trial, log: SearchLog) -> None:  # noqa: ARG002 (the table shows all trials)
        self._draw(log)

    def tick(self, log: SearchLog) -> None:
        if self._clock() >= self._next:
            self._draw(log)

    def close(self) -> None:
        live, self._live = self._live, None
        if live is not None:
            live.stop()

    def _draw(self, log: SearchLog) -> None:
        if self._live is not None:
            width = self._live.console.width
            self._live.update(picture(self._plan, log.trials, log.seconds, width), refresh=True)
        self._next = self._clock() + EVERY_SECONDS


def display_for(plan: SearchPlan, stream: TextIO, *, as_json: bool, quiet: bool) -> Display:
    """The display that fits the stream."""
    if quiet:
        return NoDisplay()
    if as_json:
        return JsonTrials(plan, stream)
    if stream.isatty():
        return LiveTrials(plan, Console(file=stream, highlight=False, emoji=False, markup=False))
    return PlainTrials(plan, stream)
