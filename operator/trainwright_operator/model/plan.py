"""The output of a decision: objects to create and delete, a status, missing data to read, and the next wake-up time."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from trainwright_api.resource.status import TrainingJobStatus
from trainwright_operator.model.observed import Manifest


@dataclass(frozen=True)
class Deletion:
    """An object to delete, in the background. With `uid`, only that object; with None, the job's object of that name,
    whose uid is read first."""

    kind: str
    namespace: str
    name: str
    uid: str | None = None


@dataclass(frozen=True)
class Lookup:
    """Data to read from the API server before a decision: a missing child, the job's pods, what is in use on nodes, or
    the events of a child that lacks pods."""

    target: Literal["child", "pods", "in_use", "events"]
    name: str = ""
    """The name of the child."""
    kind: str = ""
    max_age: float = 0.0
    """The age in seconds up to which an earlier answer, also one for another job, is as good."""


@dataclass(frozen=True)
class Plan:
    """The result of one pass. Creations come first, in this order, then deletions, then the status, then its events.

    `create` ends with the child if one is to be started. With `lookups`, nothing else is planned: the reconciler reads
    the data, adds it to the `Snapshot` and plans the job again.
    """

    create: tuple[Manifest, ...] = ()
    delete: tuple[Deletion, ...] = ()
    status: TrainingJobStatus | None = None
    """The complete status of the reconciler's own fields. None: the status does not change, and nothing is written."""
    reset: str = ""
    """The reason for which the whole status is removed. The next pass builds it again."""
    wake_at: datetime | None = None
    lookups: tuple[Lookup, ...] = ()


@dataclass(frozen=True)
class Event:
    """An Event, as `kubectl describe` shows it."""

    type: Literal["Normal", "Warning"]
    reason: str
    message: str
