"""The events of a job, derived from the difference between the status before a pass and after it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from trainwright_api.resource.status import Attempt, Condition, TrainingJobStatus
from trainwright_operator.model.plan import Event
from trainwright_operator.model.status_builder import condition_of, current, end_of
from trainwright_operator.policies.backend import WITHOUT_KUBERAY
from trainwright_operator.policies.display import CANNOT_START, IN_QUEUE, QUOTA_EXCEEDED


@dataclass(frozen=True)
class Rule:
    """A condition that produces an event when it takes this status, for all reasons or for the given ones."""

    condition: str
    status: Literal["True", "False"]
    type: Literal["Normal", "Warning"]
    reasons: tuple[str, ...] = ()

    def tells(self, condition: Condition) -> bool:
        fits = (self.condition, self.status) == (condition.type, condition.status)
        return fits and (not self.reasons or condition.reason in self.reasons)


BEFORE_ATTEMPTS = (
    Rule("Accepted", "True", "Normal"),
    Rule("Accepted", "False", "Warning"),
    Rule("Suspended", "True", "Normal"),
    Rule("Suspended", "False", "Normal"),
)
AFTER_ATTEMPTS = (
    Rule("Running", "True", "Normal", ("Stopping",)),
    Rule(
        "Running",
        "False",
        "Normal",
        ("Queued", IN_QUEUE, QUOTA_EXCEEDED, "NamespaceMaximum", "BackOff", "WaitingForPods"),
    ),
    Rule("Running", "False", "Warning", (CANNOT_START,)),
    Rule("Stalled", "True", "Warning", ("KubeRayMissing", "CannotCreate")),
    Rule("Complete", "True", "Normal"),
    Rule("Failed", "True", "Warning"),
)


def between(before: TrainingJobStatus, after: TrainingJobStatus) -> tuple[Event, ...]:
    """Return the events of one status write, in the order in which things happened."""
    return (
        *_of_conditions(BEFORE_ATTEMPTS, before, after),
        *_of_backend(before, after),
        *_of_attempts(before, after),
        *_of_conditions(AFTER_ATTEMPTS, before, after),
    )


def _of_conditions(rules: tuple[Rule, ...], before: TrainingJobStatus, after: TrainingJobStatus) -> Iterator[Event]:
    for rule in rules:
        new = condition_of(after.conditions, rule.condition)
        if new is not None and rule.tells(new) and _is_news(condition_of(before.conditions, rule.condition), new):
            reason = new.type if new.type == "Complete" else new.reason
            yield Event(rule.type, reason, new.message or _WORDS.get((new.type, new.status), new.reason))


def _is_news(old: Condition | None, new: Condition) -> bool:
    """True for another status or reason, and for another mistake of a spec that was rejected before."""
    if old is None or (old.status, old.reason) != (new.status, new.reason):
        return True
    return (new.type, new.status) == ("Accepted", "False") and old.message != new.message


def _of_backend(before: TrainingJobStatus, after: TrainingJobStatus) -> Iterator[Event]:
    """Yield the event of a backend that the file leaves open."""
    old, new = (status.resolved.backend if status.resolved else None for status in (before, after))
    if new and not old:
        why = "KubeRay is installed" if new == "ray" else WITHOUT_KUBERAY
        words = f"backend {new}: the file names none and asks for workers or GPUs; {why}"
        yield Event("Normal" if new == "ray" else "Warning", "BackendChosen", words)


def _of_attempts(before: TrainingJobStatus, after: TrainingJobStatus) -> Iterator[Event]:
    old, new = current(before.attempts), current(after.attempts)
    if new is None:
        return
    if old is not None and old.workers and new.workers and old.workers != new.workers:
        why = old.message or old.reason or "the room has changed"
        yield Event(
            "Normal", "Resized", f"attempt {new.number}: from {old.workers:,} to {new.workers:,} workers; {why}"
        )
    same = old if old is not None and old.number == new.number else None
    if new.create_time and not (same and same.create_time):
        started = condition_of(after.conditions, "Started")
        yield Event("Normal", "Started", started.message if started else f"attempt {new.number}: {new.child}")
    if after.preprocessed and not before.preprocessed:
        words = after.preprocessed.message or "the data is preprocessed"
        yield Event("Normal", "Preprocessed", f"attempt {after.preprocessed.attempt}: {words}")
    if new.completion_time and not (same and same.completion_time) and not end_of(after):
        yield _of_ending(new)
    if before.child and not after.child:
        yield Event("Normal", "CleanedUp", f"deleted {before.child} and what belonged to it")


def _of_ending(attempt: Attempt) -> Event:
    words = f"attempt {attempt.number}: {attempt.message or attempt.outcome}"
    expected = attempt.outcome in ("stopped", "preempted")
    return Event("Normal" if expected else "Warning", attempt.reason or "Ended", words)


_WORDS = {("Accepted", "True"): "the spec is accepted", ("Suspended", "False"): "it goes on"}
