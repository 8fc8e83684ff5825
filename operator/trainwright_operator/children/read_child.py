"""Reads a child of the API server into a `Child`. One table lists all kinds of children."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from trainwright_operator.children.job import JOB
from trainwright_operator.children.kind import ChildKind, Gang
from trainwright_operator.children.origin import origin_of_child
from trainwright_operator.children.rayjob import RAY_JOB
from trainwright_operator.model.observed import Child, Manifest
from trainwright_operator.model.reading import NEVER, mapping, text, time

KINDS: Mapping[str, ChildKind] = MappingProxyType({kind.resource.kind: kind for kind in (JOB, RAY_JOB)})
"""All kinds of children, by the `kind` of their objects."""


def read_child(raw: Any) -> Child | None:
    """Return the child, or None for an object that no TrainingJob owns, such as the Job of KubeRay's submitter."""
    kind, origin = _kind(mapping(raw)), origin_of_child(mapping(raw))
    if kind is None or origin is None:
        return None
    state = KINDS[kind].state(raw)
    metadata = mapping(raw, "metadata")
    return Child(
        kind=kind,
        namespace=text(metadata.get("namespace")),
        name=text(metadata.get("name")),
        uid=text(metadata.get("uid")),
        job_uid=origin.job_uid,
        attempt=origin.attempt,
        stage=origin.stage,
        created=time(metadata.get("creationTimestamp")) or NEVER,
        deleting=bool(metadata.get("deletionTimestamp")),
        state=state.state,
        pods=KINDS[kind].pods(mapping(raw, "spec")),
        started=state.started,
        finished=state.finished,
        exit_code=state.exit_code,
        reason=state.reason,
        message=state.message,
        log_tail=state.log_tail,
    )


def gangs(child: Manifest) -> tuple[Gang, ...]:
    """Return the gangs of a child's manifest."""
    return KINDS[child["kind"]].gangs(child["spec"])


def _kind(raw: Mapping[str, Any]) -> str | None:
    """Return the kind. The items of a list can lack it; then a field of the spec gives it."""
    named = raw.get("kind")
    if named is not None:
        return next((kind for kind in KINDS if kind == named), None)
    spec = mapping(raw, "spec")
    return next((name for name, kind in KINDS.items() if kind.spec_key in spec), JOB.resource.kind)
