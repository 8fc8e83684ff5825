"""The status that a pass is about to write. It starts as a copy of the observed status, and is changed step by step."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from typing import Any

from trainwright_api.resource.status import ENDS, Attempt, Condition, Phase, TrainingJobStatus
from trainwright_operator.model import times
from trainwright_operator.model.observed import Job

KEPT_ATTEMPTS = 10
MESSAGE_CHARACTERS = 32_768
"""The most characters that the API server takes in the message of a condition."""
_MORE = " …"


class StatusBuilder:
    """A status that is being built. Changes to it do not affect the observed job."""

    def __init__(self, job: Job, now: datetime) -> None:
        self.job = job
        self.now = now
        self._fields: dict[str, Any] = {name: getattr(job.status, name) for name in TrainingJobStatus.model_fields}

    @property
    def attempt(self) -> Attempt | None:
        return current(self._fields["attempts"])

    def set(self, **fields: Any) -> None:
        self._fields.update(fields)

    def get(self, field: str) -> Any:
        return self._fields[field]

    def condition(self, kind: str, value: bool, reason: str, message: str = "") -> None:
        """Set a condition, with a message that fits.

        Its transition time changes only when its status does, as `metav1.Condition` defines it.
        """
        conditions = list(self._fields["conditions"] or [])
        place = next((at for at, condition in enumerate(conditions) if condition.type == kind), len(conditions))
        status = "True" if value else "False"
        before = conditions[place] if place < len(conditions) else None
        since = before.last_transition_time if before and before.status == status else times.written(self.now)
        conditions[place:] = [
            Condition(
                type=kind,
                status=status,  # type: ignore[arg-type]  # one of the two words
                last_transition_time=since,
                reason=reason,
                message=fitted(message),
            ),
            *conditions[place + 1 :],
        ]
        self.set(conditions=conditions)

    def rejected(self, reason: str) -> bool:
        """True if the spec is marked as not accepted for this reason."""
        found = condition_of(self._fields["conditions"], "Accepted", "False")
        return found is not None and found.reason == reason

    def holds(self, kind: str) -> bool:
        return condition_of(self._fields["conditions"], kind, "True") is not None

    def add_attempt(self, attempt: Attempt) -> None:
        kept = [*(self._fields["attempts"] or []), attempt][-KEPT_ATTEMPTS:]
        self.set(attempts=kept, attempt=attempt.number, child=attempt.child)

    def change_attempt(self, **fields: Any) -> None:
        """Change the current attempt."""
        attempts = list(self._fields["attempts"] or [])
        newest = current(attempts)
        if newest is not None:
            attempts[attempts.index(newest)] = newest.model_copy(update=fields)
            self.set(attempts=attempts)

    def finish(self, derive_phase: Callable[[TrainingJobStatus], str]) -> TrainingJobStatus | None:
        """Return the status to write, None if it equals the observed one.

        Every pass decides about all conditions, so each holds for the spec of now: `kubectl wait` reads that of each.
        """
        seen = {"observed_generation": self.job.generation}
        self.set(**seen)
        if self._fields["conditions"]:
            self.set(conditions=[condition.model_copy(update=seen) for condition in self._fields["conditions"]])
        status = TrainingJobStatus.model_construct(**self._fields)
        status = status.model_copy(update={"phase": derive_phase(status)})
        return None if status == self.job.status else status


def fitted(message: str) -> str:
    """Return the message, cut to MESSAGE_CHARACTERS characters after a whole line or notice."""
    if len(message) <= MESSAGE_CHARACTERS:
        return message
    kept = message[: MESSAGE_CHARACTERS - len(_MORE)]
    end = max(kept.rfind("\n"), kept.rfind("; "))
    return kept[: end + 1 or None] + _MORE


def current(attempts: list[Attempt] | None) -> Attempt | None:
    """Return the newest attempt."""
    return max(attempts, key=lambda attempt: attempt.number) if attempts else None


def condition_of(conditions: list[Condition] | None, kind: str, status: str | None = None) -> Condition | None:
    for condition in conditions or []:
        if condition.type == kind and status in (None, condition.status):
            return condition
    return None


def end_of(status: TrainingJobStatus) -> Phase | None:
    """Return the end of a finished job, None for any other."""
    return next((end for end in ENDS if condition_of(status.conditions, end, "True")), None)
