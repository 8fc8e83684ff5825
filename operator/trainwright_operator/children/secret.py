"""Keys that the job's file gives as dictionaries: one JSON file each, in a Secret that the job owns."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from trainwright_api.resource.backend import Backend
from trainwright_api.resource.environment import CACHE_CREDENTIALS_FOLDER
from trainwright_operator.children.child_spec import ChildSpec
from trainwright_operator.children.identity import support_metadata
from trainwright_operator.model.observed import Manifest

CACHE = "cache_credentials"
"""Trainwright's own key of the backend section; the others stand in Ludwig's `credentials`."""


def dictionaries(backend: Backend) -> Mapping[str, Mapping[str, Any]]:
    """The dictionaries by the name of their key: `cache_credentials`, or one of `credentials`."""
    given = {CACHE: backend.cache_credentials, **dict(backend.credentials or ())}
    return {name: value for name, value in given.items() if isinstance(value, dict)}


def path_of(name: str) -> str:
    """Where pods find the dictionary of that name."""
    return f"{CACHE_CREDENTIALS_FOLDER}/{file_of(name)}"


def file_of(name: str) -> str:
    return f"{name}.json"


def secret(child_spec: ChildSpec) -> Manifest | None:
    """None where the file holds no keys."""
    found = dictionaries(child_spec.spec.backend)
    if not found:
        return None
    return {
        "apiVersion": "v1",
        "kind": "Secret",
        "metadata": support_metadata(child_spec),
        "type": "Opaque",
        "immutable": True,
        "stringData": {file_of(name): json.dumps(keys) for name, keys in found.items()},
    }
