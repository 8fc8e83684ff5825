"""The canonical form of a model, which is compared and hashed in place of the text. Absent keys stay absent."""

from __future__ import annotations

import hashlib
import json
from typing import Any

from pydantic import BaseModel

HIDDEN = "(hidden)"


def canonical(model: BaseModel) -> dict[str, Any]:
    """Return the model as plain data, with the keys of the file and only the values of the file."""
    data: dict[str, Any] = model.model_dump(mode="json", by_alias=True, exclude_unset=True)
    return data


def digest(model: BaseModel) -> str:
    """Return the sha256 of the canonical model, in hex. It is equal for equivalent files."""
    text = json.dumps(canonical(model), sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False)
    return hashlib.sha256(text.encode()).hexdigest()


def redacted(job: BaseModel) -> dict[str, Any]:
    """Return the canonical job without the secrets of its credentials. Only this form may be written."""
    data = canonical(job)
    backend = data.get("spec", data).get("backend", {})
    if "cache_credentials" in backend:
        backend["cache_credentials"] = _hidden(backend["cache_credentials"])
    for name, value in (backend.get("credentials") or {}).items():
        backend["credentials"][name] = _hidden(value)
    return data


def _hidden(value: Any) -> Any:
    """Hide the values of a dictionary. Paths stay unchanged."""
    return _without_values(value) if isinstance(value, dict) else value


def _without_values(value: Any) -> Any:
    return {key: _without_values(item) for key, item in value.items()} if isinstance(value, dict) else HIDDEN
