"""A kind of child: the functions that build and read its objects, and the resource that the informer watches.

Each kind has one `ChildKind` in its own module; `read_child.KINDS` lists all of them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from trainwright_operator.children.child_spec import ChildSpec
from trainwright_operator.kube.resources import Resource
from trainwright_operator.model.observed import ChildState, Manifest

Builder = Callable[[ChildSpec], Manifest]


@dataclass(frozen=True)
class State:
    """The state of a child. `observed.Child` has fields of the same names."""

    state: ChildState
    started: datetime | None = None
    finished: datetime | None = None
    exit_code: int | None = None
    reason: str = ""
    message: str = ""
    log_tail: str = ""


@dataclass(frozen=True)
class Gang:
    """Pods with one spec that must run at the same time."""

    pod: Mapping[str, Any]
    count: int


@dataclass(frozen=True)
class Builders:
    """The builders for one backend: the child, and the Service and NetworkPolicy that its pods need."""

    child: Builder
    network: tuple[Builder, ...] = ()


@dataclass(frozen=True)
class Requirement:
    """Software that the cluster needs for a kind of child: the reason and the message of a job without it."""

    reason: str
    message: str


@dataclass(frozen=True)
class ChildKind:
    resource: Resource
    spec_key: str
    """A field that only the specs of this kind have. An item of a list can lack `kind`; then this field gives it."""
    backends: Mapping[str, Builders]
    """The builders by backend."""
    state: Callable[[Mapping[str, Any]], State]
    """Reads the state from an object."""
    pods: Callable[[Mapping[str, Any]], int]
    """Counts the pods of a spec that run at the same time."""
    gangs: Callable[[Mapping[str, Any]], tuple[Gang, ...]]
    """Returns the gangs of a manifest's spec."""
    needs: Requirement | None = None
    """None if every cluster has this kind."""
    pending_after_pods: bool = False
    """True if the state becomes pending again between the end of the pods and the end of the child."""
