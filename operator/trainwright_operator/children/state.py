"""What a child's own status says, in one form for Jobs and RayJobs."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from trainwright_operator.model.observed import ChildState


@dataclass(frozen=True)
class State:
    """The fields of the same names in `observed.Child`."""

    state: ChildState
    started: datetime | None = None
    finished: datetime | None = None
    exit_code: int | None = None
    reason: str = ""
    message: str = ""
