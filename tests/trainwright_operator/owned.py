"""Owner references of objects in tests."""

from __future__ import annotations

from typing import Any

API_VERSIONS = {"TrainingJob": "trainwright.dev/v1alpha1", "Job": "batch/v1", "RayJob": "ray.io/v1"} | {
    "RayCluster": "ray.io/v1"
}


def owned_by(kind: str, name: str, uid: str) -> list[dict[str, Any]]:
    """The references of an object that this one controls."""
    return [{"apiVersion": API_VERSIONS.get(kind, "v1"), "kind": kind, "name": name, "uid": uid, "controller": True}]
