"""Reads a pod of the API server into a `Pod`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Any

from trainwright_operator.children.origin import attempt_of, controller_of
from trainwright_operator.children.pods import TRAINER
from trainwright_operator.model import names
from trainwright_operator.model.observed import OUT_OF_MEMORY, Pod
from trainwright_operator.model.reading import condition, mapping, mappings, number, text, time

NODE_TYPE = "ray.io/node-type"
"""KubeRay's label: head or worker."""
STARTING = ("", "ContainerCreating", "PodInitializing")
"""The waiting reasons of every normal start."""

Statuses = list[Mapping[str, Any]]


def read_pod(raw: Any) -> Pod | None:
    """Return the pod, or None if it names no job."""
    metadata, status = mapping(raw, "metadata"), mapping(raw, "status")
    labels = mapping(metadata, "labels")
    job_uid = text(labels.get(names.JOB_UID))
    if not job_uid:
        return None
    containers = [*mappings(status.get("initContainerStatuses")), *mappings(status.get("containerStatuses"))]
    without_room, blocked = _unschedulable(status), _blocked(containers)
    disruption = condition(status, "DisruptionTarget") or {}
    return Pod(
        namespace=text(metadata.get("namespace")),
        name=text(metadata.get("name")),
        uid=text(metadata.get("uid")),
        job_uid=job_uid,
        attempt=attempt_of(labels) or 0,
        node=text(mapping(raw, "spec").get("nodeName")) or None,
        phase=text(status.get("phase")) or "Pending",
        stage=text(labels.get(names.STAGE)),
        ready=condition(status, "Ready") is not None,
        essential=labels.get(NODE_TYPE) != "worker",
        deletion_time=time(metadata.get("deletionTimestamp")),
        exit_code=_exit_code(containers),
        init_failure=_init_failure(status),
        termination_message=_termination_message(containers),
        disrupted=text(disruption.get("reason")),
        disruption=text(disruption.get("message")),
        reason=text(status.get("reason")) or _why_ended(containers),
        memory_limit=_memory_limit(mapping(raw, "spec"), containers),
        waiting=_why_waiting(blocked),
        waiting_image=text(blocked.get("image")),
        unschedulable=text(without_room.get("message")),
        unschedulable_since=time(without_room.get("lastTransitionTime")),
        scheduled=_scheduled(raw),
        started=_started(status),
        owner=controller_of(metadata),
    )


def _ended(containers: Statuses) -> Iterator[Mapping[str, Any]]:
    return (found for container in containers if (found := mapping(container, "state", "terminated")))


def _exit_code(containers: Statuses) -> int | None:
    """Return the exit code of the training program. Those of Ray's processes and the submitter mean other things."""
    return next((number(end.get("exitCode")) for end in _ended(_named(containers, TRAINER))), None)


def _init_failure(status: Mapping[str, Any]) -> str:
    """Return the init container that made the pod fail, and how it ended; "" if none did.

    A pod with a reason of its own, such as Evicted, did not fail by one.
    """
    if status.get("phase") != "Failed" or status.get("reason"):
        return ""
    for container in mappings(status.get("initContainerStatuses")):
        end = mapping(container, "state", "terminated")
        if code := number(end.get("exitCode")):
            why = text(end.get("reason"))
            told = f" ({why})" if why not in ("", "Error") else ""
            return f"init container {text(container.get('name'))} ended with exit code {code}{told}"
    return ""


def _named(containers: Statuses, name: str) -> Statuses:
    return [container for container in containers if container.get("name") == name]


def _termination_message(containers: Statuses) -> str:
    """Return the message of the training program, else that of the first container with one."""
    ordered = [*_named(containers, TRAINER), *containers]
    return next((found for end in _ended(ordered) if (found := text(end.get("message")))), "")


def _why_ended(containers: Statuses) -> str:
    reasons = (text(end.get("reason")) for end in _ended(containers))
    return next((reason for reason in reasons if reason not in ("", "Completed")), "")


def _memory_limit(spec: Mapping[str, Any], containers: Statuses) -> str:
    """Return the memory limit of the container that was killed for memory, "" if there is none."""
    killed = next((one for one in containers if mapping(one, "state", "terminated").get("reason") == OUT_OF_MEMORY), {})
    own = next((one for one in mappings(spec.get("containers")) if one.get("name") == killed.get("name")), {})
    return text(mapping(own, "resources", "limits").get("memory"))


def _blocked(containers: Statuses) -> Mapping[str, Any]:
    """Return the first container that cannot start, or {}."""
    return next((one for one in containers if text(_waiting(one).get("reason")) not in STARTING), {})


def _waiting(container: Mapping[str, Any]) -> Mapping[str, Any]:
    return mapping(container, "state", "waiting")


def _why_waiting(container: Mapping[str, Any]) -> str:
    return ": ".join(word for key in ("reason", "message") if (word := text(_waiting(container).get(key))))


def _started(status: Mapping[str, Any]) -> datetime | None:
    """Return the latest start time of its containers. Init containers do not count."""
    states = [mapping(container, "state") for container in mappings(status.get("containerStatuses"))]
    found = [time(mapping(state, word).get("startedAt")) for state in states for word in ("running", "terminated")]
    return max((start for start in found if start), default=None)


def _scheduled(raw: Mapping[str, Any]) -> datetime | None:
    """Return the time of scheduling. A pod that was created with a node name lacks the condition PodScheduled."""
    if not mapping(raw, "spec").get("nodeName"):
        return None
    found = condition(mapping(raw, "status"), "PodScheduled")
    return time((found or {}).get("lastTransitionTime")) or time(mapping(raw, "metadata").get("creationTimestamp"))


def _unschedulable(status: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the scheduler's condition that no node has room, or {}."""
    for found in mappings(status.get("conditions")):
        if found.get("type") == "PodScheduled" and found.get("reason") == "Unschedulable":
            return found
    return {}
