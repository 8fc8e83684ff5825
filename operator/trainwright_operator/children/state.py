"""The state of a child from its own status, in one form for Jobs and RayJobs."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from trainwright_operator.model.observed import ChildState


@dataclass(frozen=True)
class State:
    """The state of a child. `observed.Child` has fields of the same names."""

    state: ChildState
    started: datetime | None = None
    finished: datetime | None = None
    exit_code: int | None = None
    reason: str = ""
    message: str = ""
