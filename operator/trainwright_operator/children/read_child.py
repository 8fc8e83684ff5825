"""Reads a child of the API server into a `Child`. One table names the functions that know each kind of child."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from trainwright_operator.children.job_state import gangs_of_job, pods_of_job, state_of_job
from trainwright_operator.children.origin import origin_of_child
from trainwright_operator.children.rayjob_state import gangs_of_ray_job, pods_of_ray_job, state_of_ray_job
from trainwright_operator.children.state import Gang, State
from trainwright_operator.model.observed import Child, ChildKind, Manifest
from trainwright_operator.model.reading import NEVER, mapping, text, time


@dataclass(frozen=True)
class KindReader:
    """The functions that read one kind of child: its state from the object, its pods and gangs from the spec."""

    state: Callable[[Mapping[str, Any]], State]
    pods: Callable[[Mapping[str, Any]], int]
    gangs: Callable[[Mapping[str, Any]], tuple[Gang, ...]]


KINDS: Mapping[ChildKind, KindReader] = MappingProxyType(
    {
        "RayJob": KindReader(state_of_ray_job, pods_of_ray_job, gangs_of_ray_job),
        "Job": KindReader(state_of_job, pods_of_job, gangs_of_job),
    }
)


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
    )


def gangs(child: Manifest) -> tuple[Gang, ...]:
    """Return the gangs of a child's manifest."""
    return KINDS[child["kind"]].gangs(child["spec"])


def _kind(raw: Mapping[str, Any]) -> ChildKind | None:
    """Return the kind. The items of a list can lack it; then an entrypoint marks a RayJob."""
    named = raw.get("kind")
    if named is None:
        return "RayJob" if "entrypoint" in mapping(raw, "spec") else "Job"
    return next((kind for kind in KINDS if kind == named), None)
