"""Listeners that write a run's events to its folder."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from trainwright_trainer.callbacks.events import Checkpointed, Ended, Evaluated, Event, Listener, Reported, rounds_of
from trainwright_trainer.callbacks.history import History
from trainwright_trainer.callbacks.tensorboard import TensorBoardLog
from trainwright_trainer.errors import EnvironmentFailure
from trainwright_trainer.rundir import layout, shared_files
from trainwright_trainer.rundir.attempt import Attempt
from trainwright_trainer.storage.base import Storage
from trainwright_trainer.storage.local import FolderStorage


class MetricsFile:
    """A listener that keeps metrics.json up to date."""

    def __init__(self, attempt: Attempt) -> None:
        self.history = _history_before(attempt)
        self._attempt = attempt

    def on_event(self, event: Event) -> None:
        self.history.on_event(event)
        if isinstance(event, Evaluated | Ended):
            shared_files.write_metrics(self._attempt, self.history.to_json())

    def close(self) -> None:
        """Does nothing: the file is complete after every event."""


def _history_before(attempt: Attempt) -> History:
    """The rounds of the earlier attempts, or those of the other run whose checkpoint the first attempt starts from."""
    before, start = shared_files.read_metrics(attempt), attempt.start_from
    if before is not None:
        return History.from_json(before)
    if start is None or start.storage.location == attempt.storage.location:
        return History()
    return History.of_another_run(rounds_of(start.state["history"]))


def tensorboard_of(attempt: Attempt) -> Listener:
    """The listener for the attempt's TensorBoard logs, in the run folder."""
    prefix = layout.attempt_logs(attempt.number)
    if isinstance(attempt.storage, FolderStorage):
        return TensorBoardLog(attempt.storage.path(prefix))
    return SentLog(attempt.storage, prefix)


class SentLog:
    """A listener for TensorBoard's file on storage without append: kept locally, and sent whole after each round."""

    def __init__(self, storage: Storage, prefix: str) -> None:
        self._storage, self._prefix = storage, prefix
        self._folder = TemporaryDirectory(prefix="trainwright-logs-")
        self._log = TensorBoardLog(Path(self._folder.name))

    def on_event(self, event: Event) -> None:
        self._log.on_event(event)
        if isinstance(event, Evaluated | Ended | Reported):
            self._send()

    def close(self) -> None:
        """Does nothing: every event has been sent already."""
        self._log.close()
        self._folder.cleanup()

    def _send(self) -> None:
        for path in Path(self._folder.name).iterdir():
            self._storage.write_file(self._prefix + path.name, path)


class BestEffort:
    """A listener whose failures do not stop training.

    The first write error is reported once; later events are tried too. `to_the_end`: even the last event may be lost.
    """

    def __init__(self, listener: Listener, name: str, log: Callable[[str], None], *, to_the_end: bool) -> None:
        self._listener, self._name, self._log, self._to_the_end = listener, name, log, to_the_end
        self._failed = False

    def on_event(self, event: Event) -> None:
        if isinstance(event, Ended) and not self._to_the_end:
            self._listener.on_event(event)
            return
        with self._spared():
            self._listener.on_event(event)

    def close(self) -> None:
        with self._spared():
            self._listener.close()

    @contextmanager
    def _spared(self) -> Iterator[None]:
        try:
            yield
        except (EnvironmentFailure, OSError) as error:
            if not self._failed:
                self._log(f"{self._name} cannot be written for now: {getattr(error, 'strerror', None) or error}")
            self._failed = True


class Relay:
    """Passes every event to all listeners, on the training thread. Checkpoint events wait for the next event."""

    def __init__(self, listeners: Sequence[Listener]) -> None:
        self._listeners = listeners
        self._waiting: deque[Checkpointed] = deque()

    def checkpointed(self, name: str, error: str | None) -> None:
        """Queue the event of the checkpoint writer. May be called on any thread."""
        self._waiting.append(Checkpointed(name, error))

    def on_event(self, event: Event) -> None:
        self._catch_up()
        self._pass_on(event)

    def close(self) -> None:
        """Pass on the queued events first: a run that is stopped ends with a checkpoint."""
        self._catch_up()
        for listener in self._listeners:
            listener.close()

    def _catch_up(self) -> None:
        while self._waiting:
            self._pass_on(self._waiting.popleft())

    def _pass_on(self, event: Event) -> None:
        for listener in self._listeners:
            listener.on_event(event)
