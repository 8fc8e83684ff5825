"""A TrainingJob as the API server stores it, and as a pass sees it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from trainwright_api.checks.cluster import ValidationResult
from trainwright_api.resource.status import TrainingJobStatus
from trainwright_operator.model.observed import Job

from .fake_api import FakeApi
from .fake_time import START

RAW: Mapping[str, Any] = {
    "apiVersion": "trainwright.dev/v1alpha1",
    "kind": "TrainingJob",
    "metadata": {"namespace": "team", "name": "flights", "uid": "uid-of-flights", "generation": 1},
    "spec": {},
}


def stored(api: FakeApi) -> dict[str, Any]:
    """Store the job in the API server."""
    return api.add(RAW)


def seen(raw: Mapping[str, Any], **status: Any) -> Job:
    """Return the job in the form that decisions use."""
    metadata = raw["metadata"]
    return Job(
        namespace=metadata["namespace"],
        name=metadata["name"],
        uid=metadata["uid"],
        generation=metadata["generation"],
        resource_version=metadata["resourceVersion"],
        created=START,
        deleting=False,
        suspend=False,
        ttl_seconds=None,
        ttl_policy="DeleteChildren",
        validation=ValidationResult(None, ""),
        status=TrainingJobStatus(**status),
    )


def child(kind: str, name: str, owner: str = "uid-of-flights") -> dict[str, Any]:
    """Return an object as a plan creates it."""
    reference = {"apiVersion": RAW["apiVersion"], "kind": RAW["kind"], "name": "flights", "uid": owner}
    return {
        "kind": kind,
        "metadata": {"namespace": "team", "name": name, "ownerReferences": [{**reference, "controller": True}]},
    }
