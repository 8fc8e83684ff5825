"""The progress of a search for the operator: one event after each change of a trial, and one a second."""

from __future__ import annotations

import time
from collections.abc import Callable

from trainwright_trainer.callbacks.events import Searched, TrialRow
from trainwright_trainer.search import words
from trainwright_trainer.search.log import SearchLog
from trainwright_trainer.search.trials import ended, ranked, running, stopped
from trainwright_trainer.search.words import SearchPlan
from trainwright_trainer.storage.location import Place

EVERY_SECONDS = 1.0
BEST = 10


class SearchProgress:
    """`place`: the run folder of a trial; `report` takes the events."""

    def __init__(
        self,
        plan: SearchPlan,
        place: Callable[[str], Place],
        report: Callable[[Searched], None],
        *,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._plan, self._place, self._report, self._clock = plan, place, report, clock
        self._next = clock()

    def tick(self, log: SearchLog) -> None:
        """Called often: the time that is left changes without events of trials."""
        if self._clock() >= self._next:
            self.changed(log)

    def changed(self, log: SearchLog) -> None:
        self._send(log, has_ended=False)

    def end(self, log: SearchLog) -> None:
        self._send(log, has_ended=True)

    def _send(self, log: SearchLog, *, has_ended: bool) -> None:
        trials = [stopped(trial) for trial in log.trials] if has_ended else log.trials
        finished = ended(trials)
        best = ranked(trials, self._plan.objective)[:BEST]
        rows = (
            TrialRow(trial.id, trial.score, trial.state, words.values(trial.values), str(self._place(trial.id)))
            for trial in best
        )
        self._report(
            Searched(
                metric=self._plan.objective.metric,
                total=self._plan.total,
                finished=finished,
                failed=sum(trial.state == "failed" for trial in trials),
                running=running(trials),
                best=tuple(rows),
                left=self._plan.left(trials, log.seconds),
                ended=has_ended,
            )
        )
        self._next = self._clock() + EVERY_SECONDS
