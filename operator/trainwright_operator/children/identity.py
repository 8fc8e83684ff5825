"""The metadata of children: names, labels and the owner reference for the garbage collector."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from trainwright_api.resource.job import API_VERSION, KIND
from trainwright_api.resource.kubernetes import ChildMetadata
from trainwright_operator.children.child_spec import ChildSpec
from trainwright_operator.model import names
from trainwright_operator.model.observed import Job
from trainwright_operator.model.record import record_of

QUEUE = "kueue.x-k8s.io/queue-name"


def owner_of(job: Job) -> Mapping[str, Any]:
    return {
        "apiVersion": API_VERSION,
        "kind": KIND,
        "name": job.name,
        "uid": job.uid,
        "controller": True,
        "blockOwnerDeletion": True,
    }


def child_metadata(child_spec: ChildSpec) -> dict[str, Any]:
    """Return the metadata of a Job or RayJob.

    Only this object has Kueue's label: on pods or on the TrainingJob, Kueue would queue them too. Labels and
    annotations of the TrainingJob are not copied, because Argo CD would treat the child as its own resource;
    `spec.childMetadata` sets them.
    """
    queue = {QUEUE: child_spec.spec.queue_name} if child_spec.spec.queue_name else {}
    given = child_spec.spec.child_metadata or ChildMetadata()
    made = _metadata(child_spec, child_spec.name, {**(given.labels or {}), **child_spec.labels, **queue})
    return {**made, "annotations": {**(given.annotations or {}), names.RECORD: record_of(child_spec.job.status)}}


def support_metadata(child_spec: ChildSpec) -> dict[str, Any]:
    """Return the metadata of the objects that all attempts share."""
    return _metadata(child_spec, child_spec.common_name, child_spec.common_labels)


def _metadata(child_spec: ChildSpec, name: str, labels: Mapping[str, str]) -> dict[str, Any]:
    return {
        "name": name,
        "namespace": child_spec.job.namespace,
        "labels": dict(labels),
        "ownerReferences": [dict(owner_of(child_spec.job))],
    }
