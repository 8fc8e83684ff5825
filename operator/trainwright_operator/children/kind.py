"""A kind of child: how its objects are built and read, and what the cluster needs for it.

Each kind has one `ChildKind`, which its own module describes completely; `kinds.KINDS` lists all of them.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
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
    pods_refused: str = ""


@dataclass(frozen=True)
class Requirement:
    """Software that the cluster needs for a kind of child: the reason and the message of a job without it."""

    reason: str
    message: str


@dataclass(frozen=True)
class ChildKind:
    resource: Resource
    backends: tuple[str, ...]
    is_kind: Callable[[Mapping[str, Any]], bool]
    """True for the specs of this kind. An item of a list can lack `kind`, and two kinds can share a resource."""
    build: Builder
    state: Callable[[Mapping[str, Any]], State]
    """Reads the state from an object."""
    gang: Callable[[Mapping[str, Any]], int]
    """Counts the pods of a spec that must run at the same time."""
    owners_of_pods: tuple[Resource, ...] = ()
    """The objects between the child and its pods in the chain of owner references."""
    network: tuple[Builder, ...] = ()
    """Builds the Service and the NetworkPolicy that its pods need."""
    needs: Requirement | None = None
    """None if every cluster has the definition of this kind."""
    pending_after_pods: bool = False
    """True if the state becomes pending again between the end of the pods and the end of the child."""

    @property
    def name(self) -> str:
        """The `kind` of its objects."""
        return self.resource.kind

    def missing(self, unknown: Collection[str]) -> Requirement | None:
        """Return what the cluster lacks for this kind, given the kinds that its API server does not know."""
        return self.needs if self.name in unknown else None
