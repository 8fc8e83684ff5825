"""All that a decision sees, and the small questions that several situations ask of it."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from functools import cached_property

from trainwright_api.resource.job import TrainingJobSpec
from trainwright_api.resource.stages import PREPROCESS, comes_before
from trainwright_api.resource.status import Attempt, Progress
from trainwright_operator.children import kind_of
from trainwright_operator.model import names, times
from trainwright_operator.model.observed import Child, ChildKind, ChildState, Job, Pod, World, of_child
from trainwright_operator.model.plan import Deletion
from trainwright_operator.model.status_builder import StatusBuilder, current
from trainwright_operator.policies.limits import Limits
from trainwright_operator.settings import Settings

ENDED: tuple[ChildState, ...] = ("succeeded", "failed")


@dataclass(frozen=True)
class Context:
    job: Job
    world: World
    settings: Settings
    now: datetime
    ca: str = ""
    """The certificate authority of the progress endpoint, in PEM."""

    @cached_property
    def attempt(self) -> Attempt | None:
        """The newest attempt; where a hand has erased it, what its child tells of it."""
        found = current(self.job.status.attempts) or _told_by(self.world.children)
        return None if found is None else self._mended(found)

    def _mended(self, attempt: Attempt) -> Attempt:
        """With the phase that its child's name tells, and that name, where a hand has changed either."""
        own = {self.child_name(attempt.number, phase): phase for phase in (PREPROCESS, self.task)}
        known = attempt.phase if attempt.phase in own.values() else None
        if attempt.child:
            phase = own.get(attempt.child, known)
            return attempt if phase == attempt.phase else attempt.model_copy(update={"phase": phase})
        told = _told_by(tuple(child for child in self.world.children if child.name in own))
        phase = known or (told.phase if told is not None else None) or self.task
        return attempt.model_copy(update={"child": self.child_name(attempt.number, phase), "phase": phase})

    def child_name(self, attempt: int, phase: str) -> str:
        return names.child_name(self.job.name, self.job.uid, attempt, phase)

    @property
    def child(self) -> Child | None:
        """The newest attempt's child."""
        attempt = self.attempt
        name = None if attempt is None else attempt.child
        return next((child for child in self.world.children if child.name == name), None)

    @property
    def running(self) -> tuple[Attempt, Child] | None:
        """The attempt that was created and has not ended, with its child."""
        attempt, child = self.attempt, self.child
        return (attempt, child) if attempt is not None and child is not None and is_open(attempt) else None

    @property
    def ended(self) -> Attempt | None:
        """The newest attempt, where it has ended."""
        attempt = self.attempt
        return attempt if attempt is not None and attempt.completion_time is not None else None

    @property
    def limits(self) -> Limits:
        return Limits.of(self.job.raw.get("spec") or {})

    @property
    def spec(self) -> TrainingJobSpec:
        """Of a job that is not refused."""
        verdict = self.job.verdict
        if verdict is None or verdict.spec is None:
            raise ValueError(f"{self.job.name} has no spec that can be run")
        return verdict.spec

    @property
    def task(self) -> str:
        return (self.job.raw.get("spec") or {}).get("task") or "train"

    def prepares(self, attempt: Attempt) -> bool:
        """Whether the attempt is in the phase before the task's own."""
        return comes_before(attempt.phase, self.task)

    def is_handed_on(self, attempt: Attempt) -> bool:
        """Whether the phase before the task's own is done. Its pods may still be there."""
        done = self.job.status.preprocessed
        return done is not None and done.attempt == attempt.number and not self.prepares(attempt)

    @property
    def kind(self) -> ChildKind:
        """What the children are that do its task."""
        backend = (self.job.raw.get("spec") or {}).get("backend")
        word = backend.get("type") if isinstance(backend, dict) else None
        return kind_of(word if isinstance(word, str) else "local")

    def kind_of(self, attempt: Attempt) -> ChildKind:
        """What the attempt's child is, or will be."""
        return "Job" if self.prepares(attempt) else self.kind

    @property
    def is_queued_by_kueue(self) -> bool:
        """Whether it waits for room in a queue of Kueue, which decides who gets it."""
        return bool((self.job.raw.get("spec") or {}).get("queueName"))

    @property
    def changed(self) -> bool:
        """Whether what is fixed since the start reads otherwise now. The schema cannot guard keys that it lacks."""
        resolved, verdict = self.job.status.resolved, self.job.verdict
        if resolved is None or resolved.digest is None or verdict is None:
            return False
        return resolved.digest != verdict.digest

    def position_of(self, attempt: Attempt) -> int | None:
        """The row that the attempt started from, as its pods have told."""
        progress = self._progress_of(attempt)
        return attempt.position if progress is None else progress.start_position

    def straggler_of(self, attempt: Attempt) -> str | None:
        """The line that names the rank which holds the others up, where its pods tell of one."""
        progress = self._progress_of(attempt)
        return None if progress is None else progress.straggler

    def _progress_of(self, attempt: Attempt) -> Progress | None:
        """The last that its pods have told, if it is of this attempt."""
        progress = self.job.status.progress
        return progress if progress is not None and progress.attempt == attempt.number else None

    def pods_of(self, attempt: Attempt) -> tuple[Pod, ...]:
        return of_child(self.world.pods, attempt.number, attempt.phase)

    def builder(self) -> StatusBuilder:
        builder = StatusBuilder(self.job, self.now)
        attempt = self.attempt
        if builder.attempt is None and attempt is not None:
            builder.add_attempt(attempt)
            builder.set(start_time=builder.get("start_time") or times.written(self.now))
        elif attempt is not None and builder.attempt != attempt:
            builder.change_attempt(child=attempt.child, phase=attempt.phase)
            builder.set(child=attempt.child)
        return builder


def is_open(attempt: Attempt) -> bool:
    """Created, and not ended."""
    return attempt.create_time is not None and attempt.completion_time is None


def is_unsure(view: Context, child: Child) -> bool:
    """Seen as not ended, perhaps long ago: to be asked for before anything follows from that which cannot be undone."""
    return child.state not in ENDED and child.name not in view.world.fresh


def deletions(children: tuple[Child, ...]) -> tuple[Deletion, ...]:
    """Of those that nobody deletes already."""
    return tuple(
        Deletion(child.kind, child.namespace, child.name, child.uid) for child in children if not child.deleting
    )


def _told_by(children: tuple[Child, ...]) -> Attempt | None:
    newest = max(children, key=lambda child: (child.attempt, child.phase != PREPROCESS), default=None)
    if newest is None:
        return None
    created = times.written(newest.created)
    return Attempt(number=newest.attempt, child=newest.name, phase=newest.phase, create_time=created)
