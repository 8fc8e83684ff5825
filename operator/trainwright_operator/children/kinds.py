"""All kinds of children: the kind of a backend, and the kind of an object."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from trainwright_api.resource.backend import is_distributed
from trainwright_operator.children.indexed_job import INDEXED_JOB
from trainwright_operator.children.job import JOB
from trainwright_operator.children.kind import ChildKind
from trainwright_operator.children.rayjob import RAY_JOB
from trainwright_operator.kube.resources import Resource
from trainwright_operator.model.reading import mapping

KINDS: tuple[ChildKind, ...] = (JOB, INDEXED_JOB, RAY_JOB)
RESOURCES: Mapping[str, Resource] = MappingProxyType({kind.name: kind.resource for kind in KINDS})
"""The resources of children, by the `kind` of their objects."""


def kind_for(backend: str, *, processor: str | None = None) -> ChildKind:
    """Return the kind that runs a backend. `processor`: that of the preprocess stage; None for the stage of the task.

    A Job of one pod preprocesses, unless the processor is distributed. An unknown backend, which is no valid one,
    counts as `local`.
    """
    if processor is not None and not is_distributed(backend, processor):
        return JOB
    return next((kind for kind in KINDS if backend in kind.backends), JOB)


def kind_of(raw: Mapping[str, Any]) -> ChildKind | None:
    """Return the kind of an object, None if no kind of child has its `kind`. The items of a list can lack that."""
    spec = mapping(raw, "spec")
    fitting = [kind for kind in KINDS if kind.is_kind(spec)]
    named = raw.get("kind") or (fitting[0].name if fitting else JOB.name)
    return next((kind for kind in (*fitting, *KINDS) if kind.name == named), None)
