"""The form in which each kind of child is read: its state, and the pods that it needs at the same time."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

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


@dataclass(frozen=True)
class Gang:
    """Pods with one spec that must run at the same time."""

    pod: Mapping[str, Any]
    count: int
