"""What a decision is: objects to create and to delete, one status, what is still to be asked, when to look again."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from trainwright_api.resource.status import TrainingJobStatus
from trainwright_operator.model.observed import Manifest


@dataclass(frozen=True)
class Deletion:
    """An object to delete, in the background. `uid`: only this very object; None: whatever has the name."""

    kind: str
    namespace: str
    name: str
    uid: str | None = None


@dataclass(frozen=True)
class Ask:
    """What must be read from the API server before a decision: a child that is missed, the job's pods, GPUs in use."""

    what: Literal["child", "pods", "gpus"]
    name: str = ""
    """The child's name, or the resource's."""
    kind: str = ""


@dataclass(frozen=True)
class Plan:
    """All of one pass. Creations come first, in this order, then deletions, then the status; events follow it.

    `create` ends with the child where one is to be started. With `asks` nothing else is planned: the answers go into
    the world, and the job is planned again.
    """

    create: tuple[Manifest, ...] = ()
    delete: tuple[Deletion, ...] = ()
    status: TrainingJobStatus | None = None
    """The whole status of the reconciler's own fields. None: it stays as it is, nothing is written."""
    wake_at: datetime | None = None
    asks: tuple[Ask, ...] = ()


@dataclass(frozen=True)
class Event:
    """What `kubectl describe` shows."""

    type: Literal["Normal", "Warning"]
    reason: str
    message: str
