"""The input of a decision, and the properties of it that several situations use."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from typing import Any, TypeGuard

from trainwright_api.resource.backend import DEFAULT_PROCESSOR
from trainwright_api.resource.job import TrainingJobSpec
from trainwright_api.resource.stages import backend_of_pods, comes_before
from trainwright_api.resource.status import Attempt, Progress, Resolved, TrainingJobStatus
from trainwright_operator.children import kind_for
from trainwright_operator.children.kind import ChildKind
from trainwright_operator.decide import conditions
from trainwright_operator.model import names
from trainwright_operator.model.observed import Child, ChildState, Job, Pod, Snapshot, of_child
from trainwright_operator.model.plan import Deletion
from trainwright_operator.model.reading import mapping, text
from trainwright_operator.model.record import read_back
from trainwright_operator.model.status_builder import StatusBuilder, current
from trainwright_operator.policies import gpus
from trainwright_operator.policies.backend import backend_of, chosen, with_backend
from trainwright_operator.policies.deadlines import Limits
from trainwright_operator.policies.forbidden import refusal
from trainwright_operator.policies.worker_range import why_fixed
from trainwright_operator.settings import Settings

ENDED: tuple[ChildState, ...] = ("succeeded", "failed")


@dataclass(frozen=True)
class Context:
    job: Job
    snapshot: Snapshot
    settings: Settings
    now: datetime
    ca: str = ""
    """The certificate authority of the progress endpoint, in PEM."""

    @cached_property
    def _read_back(self) -> TrainingJobStatus | None:
        """The status that is read back from the children, for a job whose status was reset."""
        return None if self.job.status.attempts else read_back(self.snapshot.children)

    @cached_property
    def attempt(self) -> Attempt | None:
        """The newest attempt."""
        return current((self._read_back or self.job.status).attempts)

    def child_name(self, attempt: int, stage: str) -> str:
        return names.child_name(self.job.name, self.job.uid, attempt, stage)

    @property
    def child(self) -> Child | None:
        """The newest attempt's child."""
        attempt = self.attempt
        name = None if attempt is None else attempt.child
        return next((child for child in self.snapshot.children if child.name == name), None)

    @property
    def running(self) -> tuple[Attempt, Child] | None:
        """The attempt that was created and has not ended, with its child."""
        attempt, child = self.attempt, self.child
        return (attempt, child) if attempt is not None and child is not None and is_open(attempt) else None

    @property
    def ended(self) -> Attempt | None:
        """The newest attempt if it has ended, else None."""
        attempt = self.attempt
        return attempt if attempt is not None and attempt.completion_time is not None else None

    @property
    def limits(self) -> Limits:
        return Limits.of(self._stored)

    @cached_property
    def spec(self) -> TrainingJobSpec:
        """The spec of a job with a valid spec, with its backend. Raises ValueError if there is none."""
        given = self._valid_spec
        if given is None:
            raise ValueError(f"{self.job.name} has no spec that can be run")
        return with_backend(given, self.chosen_backend)

    @property
    def _valid_spec(self) -> TrainingJobSpec | None:
        return None if self.job.validation is None else self.job.validation.spec

    @property
    def chosen_backend(self) -> str | None:
        """The backend that the operator has chosen, or would choose now. None: the file decides."""
        resolved, given = (self._read_back or self.job.status).resolved, self._valid_spec
        if is_resolved(resolved):
            return resolved.backend
        return None if given is None else chosen(given, self.snapshot.missing_kinds)

    def forbidden(self, resolved: Resolved | None) -> str:
        """Return what the administrator's policy forbids in a job with a valid spec; "" if nothing is."""
        return refusal(self.spec, self.settings.policy, self.settings.images, self.job.name, resolved)

    @property
    def may_resize(self) -> bool:
        """True if another resize of a job with a range of workers and a valid spec is allowed."""
        return not why_fixed(self.spec, self.snapshot) and (self.job.status.resizes or 0) < self.limits.resize

    @property
    def _stored(self) -> Mapping[str, Any]:
        """The spec as it is stored. Unlike `spec` it is there for a job that another version would reject."""
        return mapping(self.job.raw, "spec")

    @property
    def task(self) -> str:
        return text(self._stored.get("task")) or "train"

    @property
    def has_function(self) -> bool:
        """True for a train function of the user, which has no model."""
        return self._stored.get("entrypoint") is not None

    def gpus_held(self, resolved: Resolved) -> int:
        """The GPUs of the whole job in the stage of its task."""
        return gpus.held(self._stored, resolved.model_dump(mode="json", by_alias=True, exclude_none=True))

    def prepares(self, attempt: Attempt) -> bool:
        """True if the attempt is in the stage before the one of its task."""
        return comes_before(attempt.stage, self.task)

    def follows_preprocess(self, attempt: Attempt) -> bool:
        """True if the stage before the task's own is done. The pods of that stage may still exist."""
        done = self.job.status.preprocessed
        return done is not None and done.attempt == attempt.number and not self.prepares(attempt)

    @property
    def kind(self) -> ChildKind:
        """The kind of the children that run the task."""
        return kind_for(self._backend)

    def kind_of(self, attempt: Attempt) -> str:
        """The kind of the attempt's child, which may not exist yet."""
        return self.preprocess_kind if self.prepares(attempt) else self.kind.name

    @property
    def preprocess_kind(self) -> str:
        """The kind of the children that preprocess."""
        processor = text(mapping(self._section, "processor").get("type")) or DEFAULT_PROCESSOR
        return kind_for(self._backend, processor=processor).name

    @property
    def _backend(self) -> str:
        return backend_of_pods(self.task, backend_of(self._stored, {"backend": self.chosen_backend}))

    @property
    def _section(self) -> Mapping[str, Any]:
        """The section `backend` as it is stored, which may be invalid."""
        return mapping(self._stored, "backend")

    @property
    def is_queued_by_kueue(self) -> bool:
        """True if Kueue decides when the job gets room."""
        return bool(self._stored.get("queueName")) or (self.child is not None and self.child.has_queue)

    @property
    def changed(self) -> bool:
        """True if a field that is fixed since the start has changed. The schema cannot protect keys that it lacks.

        The digest of an invalid spec tells nothing.
        """
        resolved, validation = self.job.status.resolved, self.job.validation
        if resolved is None or resolved.digest is None or validation is None or validation.spec is None:
            return False
        return resolved.digest != validation.digest

    @property
    def rejection(self) -> tuple[str, str] | None:
        """The reason and the message of a spec from which nothing is started: it is invalid, or has changed since the
        start."""
        validation = self.job.validation
        if validation is None or validation.spec is None:
            return "Invalid", validation.message if validation is not None else "the spec could not be read"
        return ("ChangedAfterStart", conditions.CHANGED) if self.changed else None

    def position_of(self, attempt: Attempt) -> int | None:
        """The row that the attempt started from, as its pods reported it."""
        progress = self._progress_of(attempt)
        return attempt.position if progress is None else progress.start_position

    def straggler_of(self, attempt: Attempt) -> str | None:
        """The message that names the slowest rank, if the pods reported one."""
        progress = self._progress_of(attempt)
        return None if progress is None else progress.straggler

    def _progress_of(self, attempt: Attempt) -> Progress | None:
        """The last progress that the pods posted, if it belongs to this attempt."""
        progress = self.job.status.progress
        return progress if progress is not None and progress.attempt == attempt.number else None

    def pods_of(self, attempt: Attempt) -> tuple[Pod, ...]:
        return of_child(self.snapshot.pods, attempt.number, attempt.stage)

    def builder(self) -> StatusBuilder:
        builder = StatusBuilder(self.job, self.now)
        if not self.job.suspend and builder.holds("Suspended"):
            builder.condition("Suspended", False, "Resumed")
        if self._read_back is not None:
            builder.set(**{name: getattr(self._read_back, name) for name in self._read_back.model_fields_set})
        return builder


def is_resolved(found: Resolved | None) -> TypeGuard[Resolved]:
    """True if the values of the job were derived. The trainer adds its own, which an earlier status can have alone."""
    return found is not None and found.digest is not None and found.workers is not None


def is_open(attempt: Attempt) -> bool:
    """True if the attempt's child was created and the attempt has not ended."""
    return attempt.create_time is not None and attempt.completion_time is None


def is_unsure(context: Context, child: Child) -> bool:
    """True if the child was seen as not ended, perhaps long ago. Read it again before a step that cannot be undone."""
    return child.state not in ENDED and child.name not in context.snapshot.fresh


def deletions(children: tuple[Child, ...]) -> tuple[Deletion, ...]:
    """Return deletions for the children that are not being deleted yet."""
    return tuple(
        Deletion(child.kind, child.namespace, child.name, child.uid) for child in children if not child.deleting
    )
