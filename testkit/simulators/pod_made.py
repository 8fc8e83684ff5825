"""Builds a pod from a template, as controllers do."""

from __future__ import annotations

import copy
import hashlib
from collections.abc import Mapping
from typing import Any

from testkit.api import Manifest
from testkit.api.resource import Resource

QUOTA = 64
"""The most pods per job, because a manual edit may request as many as the schema allows."""


def from_template(
    template: Manifest, name: str, owner: Manifest, labels: Mapping[str, str], annotations: Mapping[str, str]
) -> Manifest:
    metadata = template.get("metadata", {})
    return {
        "metadata": {
            "name": name,
            "namespace": owner["metadata"]["namespace"],
            "labels": {**metadata.get("labels", {}), **labels},
            "annotations": {**metadata.get("annotations", {}), **annotations},
            "ownerReferences": [reference(owner)],
        },
        "spec": copy.deepcopy(template["spec"]),
    }


def reference(owner: Manifest) -> Manifest:
    return {
        "apiVersion": owner["apiVersion"],
        "kind": owner["kind"],
        "name": owner["metadata"]["name"],
        "uid": owner["metadata"]["uid"],
        "controller": True,
        "blockOwnerDeletion": True,
    }


def suffix(*parts: Any) -> str:
    """Five characters, the same for the same parts: a retry after a lost reply does not create a second pod."""
    return hashlib.sha256("/".join(map(str, parts)).encode()).hexdigest()[:5]


def of(resource: Resource, seen: Manifest) -> Manifest:
    """The object with apiVersion and kind, which the items of a list lack."""
    return {"apiVersion": resource.api_version, "kind": resource.kind, **seen}
