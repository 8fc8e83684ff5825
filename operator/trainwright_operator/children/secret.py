"""The Secret, owned by the job, with the credentials that the job's file gives as dictionaries, one JSON file each."""

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
"""Trainwright's own key of the backend section. The other keys are in Ludwig's `credentials`."""


def dictionaries(backend: Backend) -> Mapping[str, Mapping[str, Any]]:
    """Return the dictionaries by their key: `cache_credentials`, or a key of `credentials`."""
    given = {CACHE: backend.cache_credentials, **dict(backend.credentials or ())}
    return {name: value for name, value in given.items() if isinstance(value, dict)}


def path_of(name: str) -> str:
    """Return the path in pods of the dictionary with this name."""
    return f"{CACHE_CREDENTIALS_FOLDER}/{file_of(name)}"


def file_of(name: str) -> str:
    return f"{name}.json"


def secret(child_spec: ChildSpec) -> Manifest | None:
    """Return the Secret, or None if the job's file has no dictionaries of credentials."""
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
