"""Reads a child of the API server into a `Child`."""

from __future__ import annotations

from typing import Any

from trainwright_operator.children.identity import QUEUE
from trainwright_operator.children.kinds import kind_of
from trainwright_operator.children.origin import origin_of_child
from trainwright_operator.model import names
from trainwright_operator.model.observed import Child
from trainwright_operator.model.reading import NEVER, mapping, text, time


def read_child(raw: Any) -> Child | None:
    """Return the child, or None for an object that no TrainingJob owns, such as the Job of KubeRay's submitter."""
    kind, origin = kind_of(mapping(raw)), origin_of_child(mapping(raw))
    if kind is None or origin is None:
        return None
    state = kind.state(raw)
    metadata = mapping(raw, "metadata")
    return Child(
        kind=kind.name,
        namespace=text(metadata.get("namespace")),
        name=text(metadata.get("name")),
        uid=text(metadata.get("uid")),
        job_uid=origin.job_uid,
        attempt=origin.attempt,
        stage=origin.stage,
        created=time(metadata.get("creationTimestamp")) or NEVER,
        record=text(mapping(metadata, "annotations").get(names.RECORD)),
        deleting=bool(metadata.get("deletionTimestamp")),
        state=state.state,
        pods=kind.gang(mapping(raw, "spec")),
        pending_after_pods=kind.pending_after_pods,
        started=state.started,
        finished=state.finished,
        exit_code=state.exit_code,
        reason=state.reason,
        message=state.message,
        log_tail=state.log_tail,
        pods_refused=state.pods_refused,
        has_queue=QUEUE in mapping(metadata, "labels"),
    )
