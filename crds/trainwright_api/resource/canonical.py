"""What is compared and hashed: the model, never the text. What is absent in the file stays absent."""

from __future__ import annotations

import hashlib
import json
from typing import Any

from pydantic import BaseModel

HIDDEN = "(hidden)"


def canonical(model: BaseModel) -> dict[str, Any]:
    """The model as plain data, with the file's own keys and only what the file gives."""
    data: dict[str, Any] = model.model_dump(mode="json", by_alias=True, exclude_unset=True)
    return data


def digest(model: BaseModel) -> str:
    """The sha256 of the canonical model, in hex: the same for files that mean the same."""
    text = json.dumps(canonical(model), sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False)
    return hashlib.sha256(text.encode()).hexdigest()


def redacted(job: BaseModel) -> dict[str, Any]:
    """The canonical job without the keys in its credentials. Only this form is ever written again."""
    data = canonical(job)
    backend = data.get("spec", data).get("backend", {})
    if "cache_credentials" in backend:
        backend["cache_credentials"] = _hidden(backend["cache_credentials"])
    for name, value in (backend.get("credentials") or {}).items():
        backend["credentials"][name] = _hidden(value)
    return data


def _hidden(value: Any) -> Any:
    """Paths stay as they are; of a dictionary only the keys stay."""
    return _without_values(value) if isinstance(value, dict) else value


def _without_values(value: Any) -> Any:
    return {key: _without_values(item) for key, item in value.items()} if isinstance(value, dict) else HIDDEN
