"""The stored form of a TrainingJob and of a node, and its conversion to the form that decisions use.

Jobs are stored as JSON text and parsed again for each decision, so that thousands of them need little memory. For a
finished job, only the fields that cleanup needs are kept, compressed.
"""

from __future__ import annotations

import copy
import json
import sys
import zlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import reduce
from operator import getitem
from typing import Any

from pydantic import ValidationError

from trainwright_api.checks.cluster import ValidationResult
from trainwright_api.checks.error_messages import lines
from trainwright_api.paths import dotted
from trainwright_api.resource.quantity import amount
from trainwright_api.resource.stages import PREPROCESS
from trainwright_api.resource.status import ENDS, TrainingJobStatus
from trainwright_operator.model import times
from trainwright_operator.model.observed import Held, Job, Manifest, Node, Taint, Waiting
from trainwright_operator.model.reading import NEVER, condition, mapping, mappings, number, text
from trainwright_operator.policies import gpus
from trainwright_operator.policies.gangs import is_gang
from trainwright_operator.policies.namespace_quota import CROWDED

APPLIED = "kubectl.kubernetes.io/last-applied-configuration"
"""kubectl's copy of the spec, which includes secrets."""
KEPT_METADATA = ("namespace", "name", "uid", "generation", "resourceVersion", "creationTimestamp", "deletionTimestamp")
KEPT_SPEC = ("suspend", "ttlSecondsAfterFinished", "ttlPolicy")


@dataclass(frozen=True, slots=True)
class StoredJob:
    """A TrainingJob in its stored form."""

    uid: str
    finished: bool
    waiting: Waiting | None
    """The data that other jobs need about it while it waits for room."""
    held: Held | None
    """The workers and GPUs of its open attempt, which count for the maximum of its namespace."""
    crowded: bool
    """True if it waits for the maximum of its namespace."""
    data: bytes


def strip_job(raw: Manifest) -> StoredJob:
    conditions = _conditions(raw)
    finished = any(condition(mapping(raw, "status"), end) for end in ENDS)
    kept = _finished(raw) if finished else _unfinished(raw)
    data = json.dumps(kept, separators=(",", ":"), ensure_ascii=False).encode()
    return StoredJob(
        uid=raw["metadata"]["uid"],
        finished=finished,
        waiting=None if finished else _waiting(raw, conditions),
        held=None if finished else _held(raw),
        crowded=not finished and _waits_because(conditions) == CROWDED,
        data=zlib.compress(data, 1) if finished else data,
    )


def read_job(stored: StoredJob, validate_job: Callable[[Manifest], ValidationResult]) -> Job:
    raw = json.loads(zlib.decompress(stored.data) if stored.finished else stored.data)
    metadata, spec = raw["metadata"], mapping(raw, "spec")
    seconds = spec.get("ttlSecondsAfterFinished")
    status, unreadable = _status(raw)
    return Job(
        namespace=metadata["namespace"],
        name=metadata["name"],
        uid=stored.uid,
        generation=metadata.get("generation", 0),
        resource_version=metadata["resourceVersion"],
        created=times.read(metadata.get("creationTimestamp")) or NEVER,
        deleting="deletionTimestamp" in metadata,
        suspend=spec.get("suspend") is True,
        ttl_seconds=seconds if isinstance(seconds, int) else None,
        ttl_policy=str(spec.get("ttlPolicy") or "DeleteChildren"),
        validation=None if stored.finished else validate_job(raw),
        status=status,
        unreadable=unreadable,
        raw={} if stored.finished else raw,
    )


def read_status(raw: Any) -> TrainingJobStatus:
    """Return the status. Fields that only a newer operator knows are left out. Raises ValidationError."""
    status = dict(mapping(raw))
    try:
        return TrainingJobStatus.model_validate(status)
    except ValidationError as error:
        wrong = error.errors(include_url=False)
        if any(line["type"] != "unknown_key" for line in wrong):
            raise
        known = copy.deepcopy(status)
        for line in wrong:
            *path, last = line["loc"]
            del reduce(getitem, path, known)[last]  # type: ignore[arg-type]
        return TrainingJobStatus.model_validate(known)


def _status(raw: Manifest) -> tuple[TrainingJobStatus, str]:
    """Return the status of a job, and why it cannot be read."""
    try:
        return read_status(raw.get("status")), ""
    except ValidationError as error:
        location, message = lines(error)[0]
        return TrainingJobStatus(), f"{dotted(('status', *location))}: {message}"


def strip_node(raw: Manifest) -> Node:
    metadata, spec, status = mapping(raw, "metadata"), mapping(raw, "spec"), mapping(raw, "status")
    return Node(
        name=str(metadata["name"]),
        ready=condition(status, "Ready") is not None,
        unschedulable=spec.get("unschedulable") is True,
        labels={sys.intern(key): value for key, value in mapping(metadata, "labels").items()},
        taints=tuple(_taint(taint) for taint in spec.get("taints") or ()),
        allocatable={sys.intern(name): amount(quantity) for name, quantity in mapping(status, "allocatable").items()},
    )


def _unfinished(raw: Manifest) -> Manifest:
    metadata = {key: value for key, value in raw["metadata"].items() if key != "managedFields"}
    notes = {key: value for key, value in mapping(metadata, "annotations").items() if key != APPLIED}
    return {**raw, "metadata": {**metadata, "annotations": notes} if notes else _without(metadata, "annotations")}


def _finished(raw: Manifest) -> Manifest:
    metadata, spec = raw["metadata"], mapping(raw, "spec")
    return {
        "metadata": {key: metadata[key] for key in KEPT_METADATA if key in metadata},
        "spec": {key: spec[key] for key in KEPT_SPEC if key in spec},
        "status": raw["status"],
    }


def _without(found: Mapping[str, Any], key: str) -> Mapping[str, Any]:
    return {name: value for name, value in found.items() if name != key}


def _waiting(raw: Manifest, conditions: list[Mapping[str, Any]]) -> Waiting | None:
    """Return the job's wait for room, as its last pass wrote it; None if it does not wait, or waits in a queue of
    Kueue."""
    spec = mapping(raw, "spec")
    if _waits_because(conditions) != "Queued" or spec.get("queueName"):
        return None
    newest, resolved = _newest_attempt(raw), mapping(raw, "status", "resolved")
    return Waiting(
        created=text(raw["metadata"].get("creationTimestamp")),
        uid=raw["metadata"]["uid"],
        gang=is_gang(spec, resolved, newest.get("stage")),
        trying=not newest.get("completionTime"),
        gpus=0 if newest.get("stage") == PREPROCESS else gpus.held(spec, resolved),
    )


def _waits_because(conditions: list[Mapping[str, Any]]) -> str:
    """Return the reason for which a job does not run, "" for a job that runs or has not been looked at."""
    running = next((item for item in conditions if item.get("type") == "Running"), {})
    return text(running.get("reason")) if running.get("status") == "False" else ""


def _held(raw: Manifest) -> Held | None:
    newest = _newest_attempt(raw)
    if not newest or newest.get("completionTime"):
        return None
    resolved = mapping(raw, "status", "resolved")
    return Held(number(resolved.get("workers")) or 1, gpus.held(mapping(raw, "spec"), resolved))


def _newest_attempt(raw: Manifest) -> Mapping[str, Any]:
    attempts = [item for item in mappings(mapping(raw, "status").get("attempts")) if number(item.get("number"))]
    return max(attempts, key=lambda item: item["number"], default={})


def _conditions(raw: Manifest) -> list[Mapping[str, Any]]:
    return list(mappings(mapping(raw, "status").get("conditions")))


def _taint(raw: Any) -> Taint:
    return Taint(key=raw["key"], effect=raw["effect"], value=raw.get("value") or "")
