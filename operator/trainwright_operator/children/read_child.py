"""Reads a Job or RayJob of the API server into a `Child`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from trainwright_operator.children.job_state import state_of_job
from trainwright_operator.children.origin import origin_of_child
from trainwright_operator.children.rayjob_state import state_of_ray_job
from trainwright_operator.model.observed import Child, ChildKind
from trainwright_operator.model.reading import NEVER, mapping, mappings, number, text, time


def read_child(raw: Any) -> Child | None:
    """Return the child, or None for an object that no TrainingJob owns, such as the Job of KubeRay's submitter."""
    kind, origin = _kind(mapping(raw)), origin_of_child(mapping(raw))
    if kind is None or origin is None:
        return None
    state = state_of_ray_job(raw) if kind == "RayJob" else state_of_job(raw)
    metadata = mapping(raw, "metadata")
    return Child(
        kind=kind,
        namespace=text(metadata.get("namespace")),
        name=text(metadata.get("name")),
        uid=text(metadata.get("uid")),
        job_uid=origin.job_uid,
        attempt=origin.attempt,
        phase=origin.phase,
        created=time(metadata.get("creationTimestamp")) or NEVER,
        deleting=bool(metadata.get("deletionTimestamp")),
        state=state.state,
        pods=_pods(kind, mapping(raw, "spec")),
        started=state.started,
        finished=state.finished,
        exit_code=state.exit_code,
        reason=state.reason,
        message=state.message,
    )


def _pods(kind: ChildKind, spec: Mapping[str, Any]) -> int:
    if kind == "Job":
        return number(spec.get("parallelism")) or 1
    groups = mappings(mapping(spec, "rayClusterSpec").get("workerGroupSpecs"))
    return 1 + sum(number(group.get("replicas")) or 0 for group in groups)


def _kind(raw: Mapping[str, Any]) -> ChildKind | None:
    """Return the kind. The items of a list can lack it; then an entrypoint marks a RayJob."""
    named = raw.get("kind")
    if named is None:
        return "RayJob" if "entrypoint" in mapping(raw, "spec") else "Job"
    return named if named in ("Job", "RayJob") else None
