"""Reports progress to the operator on its own thread. Training neither waits for it nor fails because of it."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass

from pydantic import ValidationError

from trainwright_api.checks.error_messages import lines
from trainwright_api.paths import dotted
from trainwright_api.resource.messages import OutcomeMessage, ProgressMessage, Reply, Report
from trainwright_trainer.callbacks.endpoint import NotTaken
from trainwright_trainer.callbacks.events import Checkpointed, Event
from trainwright_trainer.callbacks.progress_snapshot import ProgressSnapshot
from trainwright_trainer.callbacks.report_schedule import Reach, ReportSchedule

LAST_REPORT_SECONDS = 30.0
"""Time limit of the attempts to send the outcome."""
AGAIN_SECONDS = 1.0
LAST_REQUEST_SECONDS = 10.0
"""Extra wait for a request that still hangs after the time limit. After that `finish` returns."""


@dataclass(frozen=True)
class ReportSource:
    """The pod that sends reports: the uid of its TrainingJob, its attempt and its stage."""

    uid: str
    attempt: int
    stage: str


class Pusher:
    """A listener. `post` raises `NotTaken`; `stop` and `log` are called on this object's thread.

    `start` sends the first report, before any event; `finish` sends the last one.
    """

    def __init__(
        self,
        post: Callable[[Report], Reply],
        source: ReportSource,
        *,
        stop: Callable[[str], None],
        log: Callable[[str], None],
        clock: Callable[[], float] = time.monotonic,
        last_seconds: float = LAST_REPORT_SECONDS,
        again: float = AGAIN_SECONDS,
    ) -> None:
        self._post, self._source, self._stop, self._log = post, source, stop, log
        self._clock, self._last_seconds, self._again = clock, last_seconds, again
        self._snapshot, self._schedule, self._reach = ProgressSnapshot(source.stage), ReportSchedule(clock()), Reach()
        self._is_cut = False
        """True once the progress could not be reported. One line has said so."""
        self._changed = threading.Condition()
        self._outcome: OutcomeMessage | None = None
        self._failure: str | None = "it takes too long"
        self._thread = threading.Thread(target=self._run, name="progress", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def on_event(self, event: Event) -> None:
        with self._changed:
            self._snapshot.on_event(event, self._clock())
            if isinstance(event, Checkpointed) and self._schedule.hurry():
                self._changed.notify()

    def close(self) -> None:
        """Does nothing: the attempt may outlast training, and `finish` ends it."""

    def finish(self, outcome: OutcomeMessage) -> str | None:
        """Send the outcome. Return None once the operator accepts it, or the reason if 30 seconds were not enough."""
        with self._changed:
            self._outcome = outcome
            self._changed.notify()
        self._thread.join(self._last_seconds + LAST_REQUEST_SECONDS)
        return self._failure

    def _run(self) -> None:
        while self._wait() is None:
            self._send()
        self._send_outcome()

    def _wait(self) -> OutcomeMessage | None:
        """Wait until the next report is due. Return the outcome as soon as there is one."""
        with self._changed:
            while self._outcome is None and (rest := self._schedule.rest(self._clock())) > 0:
                self._changed.wait(rest)
            return self._outcome

    def _send(self) -> None:
        try:
            reply = self._post(self._report())
        except NotTaken as problem:
            notice = self._reach.lost(str(problem))
        else:
            notice = self._reach.found()
            if reply.stop:
                self._stop(reply.reason)
        if notice is not None:
            self._log(notice)

    def _send_outcome(self) -> None:
        until = self._clock() + self._last_seconds
        while True:
            try:
                self._post(self._report())
            except NotTaken as problem:
                self._failure = str(problem)
                if problem.refused or self._clock() + self._again > until:
                    return
            else:
                self._failure = None
                return
            with self._changed:
                self._changed.wait(self._again)

    def _report(self) -> Report:
        with self._changed:
            now = self._clock()
            self._schedule.sent(now)
            progress = self._progress(now)
        return Report(uid=self._source.uid, attempt=self._source.attempt, progress=progress, outcome=self._outcome)

    def _progress(self, now: float) -> ProgressMessage:
        """The progress, or the stage alone if the contract lacks a number: the reply and the outcome need a report."""
        try:
            return self._snapshot.message(now)
        except ValidationError as error:
            if not self._is_cut:
                location, message = lines(error)[0]
                self._log(f"the progress cannot be reported: {dotted(location)}: {message}")
            self._is_cut = True
            return ProgressMessage(stage=self._source.stage)
