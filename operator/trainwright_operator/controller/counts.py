"""Counts jobs by phase, and retries. An Observer exports the numbers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Protocol

from trainwright_api.resource.status import OutcomeClass
from trainwright_operator.model.observed import Job
from trainwright_operator.model.plan import Plan
from trainwright_operator.model.status_builder import current

Key = tuple[str, str]


class Observer(Protocol):
    """The interface of the metrics."""

    def passed(self, seconds: float) -> None: ...

    def failed(self, reason: str) -> None: ...

    def queued(self, depth: int) -> None: ...

    def jobs(self, by_phase: Mapping[str, int]) -> None: ...

    def retried(self, outcome: OutcomeClass) -> None: ...


class Counts:
    """The counts of all passes so far. A pass follows every change of a job."""

    def __init__(self, observer: Observer) -> None:
        self._observer = observer
        self._phases: dict[Key, str] = {}
        self._by_phase: Counter[str] = Counter()

    def saw(self, key: Key, job: Job | None) -> None:
        """Record the job at the start of a pass; None if it is gone."""
        before = self._phases.pop(key, None)
        after = None if job is None else job.status.phase or "Pending"
        if after is not None:
            self._phases[key] = after
        if before != after:
            self._by_phase.update({phase: step for phase, step in ((before, -1), (after, 1)) if phase})
            self._observer.jobs(self._by_phase)

    def did(self, job: Job, plan: Plan) -> None:
        """Record that a pass has carried out all of its plan."""
        last = current(job.status.attempts)
        following = current(plan.status.attempts) if plan.status is not None else None
        if last is not None and following is not None and following.number > last.number and last.outcome is not None:
            self._observer.retried(last.outcome)
