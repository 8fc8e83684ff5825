"""Counts what passes see and do. Who shows it is told; nothing here knows how."""

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
    """Who shows the numbers."""

    def passed(self, seconds: float) -> None: ...

    def failed(self, reason: str) -> None: ...

    def queued(self, depth: int) -> None: ...

    def jobs(self, by_phase: Mapping[str, int]) -> None: ...

    def retried(self, outcome: OutcomeClass) -> None: ...


class Counts:
    """What the passes so far have seen. Every change of a job is followed by a pass."""

    def __init__(self, observer: Observer) -> None:
        self._observer = observer
        self._phases: dict[Key, str] = {}
        self._by_phase: Counter[str] = Counter()

    def saw(self, key: Key, job: Job | None) -> None:
        """A job, as a pass has found it; None when it is gone."""
        before = self._phases.pop(key, None)
        after = None if job is None else job.status.phase or "Pending"
        if after is not None:
            self._phases[key] = after
        if before != after:
            self._by_phase.update({phase: step for phase, step in ((before, -1), (after, 1)) if phase})
            self._observer.jobs(self._by_phase)

    def did(self, job: Job, plan: Plan) -> None:
        """A pass has written all of its plan."""
        last = current(job.status.attempts)
        following = current(plan.status.attempts) if plan.status is not None else None
        if last is not None and following is not None and following.number > last.number and last.outcome is not None:
            self._observer.retried(last.outcome)
