"""Counts jobs by phase, retries, times and GPU-seconds. An Observer exports the numbers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from datetime import datetime
from typing import Protocol

from trainwright_api.resource.status import Attempt, OutcomeClass, TrainingJobStatus
from trainwright_operator.model import times
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

    def queued_for(self, namespace: str, seconds: float) -> None: ...

    def started_after(self, namespace: str, seconds: float) -> None: ...

    def ran_for(self, namespace: str, outcome: OutcomeClass, seconds: float) -> None: ...

    def used_gpus(self, namespace: str, gpu_seconds: float) -> None: ...


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
        if plan.status is None:
            return
        last, following = current(job.status.attempts), current(plan.status.attempts)
        if last is not None and following is not None and following.number > last.number and last.outcome is not None:
            self._observer.retried(last.outcome)
        if following is not None:
            self._times(job, _same(job.status, following), following)
        more = (plan.status.gpu_seconds or 0) - (job.status.gpu_seconds or 0)
        if more > 0:
            self._observer.used_gpus(job.namespace, more)

    def _times(self, job: Job, before: Attempt | None, after: Attempt) -> None:
        """Record the times of an attempt that has started or ended in this pass. An attempt starts in each stage."""
        began, created, ended = (times.read(at) for at in (after.start_time, after.create_time, after.completion_time))
        if began is not None and (before is None or before.start_time is None):
            if created is not None:
                self._observer.queued_for(job.namespace, _seconds(created, began))
            if not job.status.preprocessed and not any(one.start_time for one in job.status.attempts or ()):
                self._observer.started_after(job.namespace, _seconds(job.created, began))
        if began is not None and ended is not None and after.outcome and (before is None or not before.completion_time):
            self._observer.ran_for(job.namespace, after.outcome, _seconds(began, ended))


def _same(status: TrainingJobStatus, attempt: Attempt) -> Attempt | None:
    return next((one for one in status.attempts or () if one.number == attempt.number), None)


def _seconds(begin: datetime, end: datetime) -> float:
    """Return the seconds between two times. The clocks of two machines may differ."""
    return max(0.0, (end - begin).total_seconds())
