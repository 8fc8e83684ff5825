"""TensorBoard logs: one event file per attempt under `logs/`, a few scalars at each evaluation round."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import BinaryIO

from trainwright_trainer.callbacks import tensorboard_records
from trainwright_trainer.callbacks.events import Ended, Evaluated, Event, FunctionStarted, Reported, Started
from trainwright_trainer.callbacks.scalars import scalars_of


class TensorBoardLog:
    """Scalars `train/…`, `validation/…`, `test/…`, `ranks/…`, `learning_rate` and `rows_per_second` over steps.

    A listener.

    A resumed run opens a new file. Its first record makes readers drop the records of the earlier attempt past the
    checkpoint, so that a curve never runs back on itself. The file is created at the first event. Raises OSError if the
    folder cannot be written.
    """

    def __init__(self, folder: Path, *, wall_clock: Callable[[], float] = time.time) -> None:
        self._folder = folder
        self._wall_clock = wall_clock
        self._file: BinaryIO | None = None

    def on_event(self, event: Event) -> None:
        if isinstance(event, Started):
            self._open(event.attempt, event.step, goes_on=event.step > 0)
        elif isinstance(event, FunctionStarted):
            goes_on = event.reports > 0 or self._file is not None  # the workers may have been replaced
            self.close()
            self._open(event.attempt, event.reports, goes_on=goes_on)
        elif isinstance(event, Evaluated | Ended | Reported):
            self._write(*scalars_of(event))

    def close(self) -> None:
        if self._file is not None:
            self._file.close()
            self._file = None

    def _open(self, attempt: int, step: int, *, goes_on: bool) -> None:
        now = self._wall_clock()
        self._folder.mkdir(parents=True, exist_ok=True)
        # Readers take the files in the order of their names.
        name = f"events.out.tfevents.{int(now):010}.trainwright.{attempt:06}"
        self._file = (self._folder / name).open("ab")
        self._append(tensorboard_records.version_event(now))
        if goes_on:
            # The round at `step` itself was written before the checkpoint, so it stays.
            self._append(tensorboard_records.restart_event(now, step + 1))
        self._file.flush()

    def _write(self, step: int, scalars: dict[str, float]) -> None:
        if self._file is not None and scalars:
            self._append(tensorboard_records.scalars_event(self._wall_clock(), step, scalars))
            self._file.flush()

    def _append(self, message: bytes) -> None:
        assert self._file is not None
        self._file.write(tensorboard_records.record(message))
