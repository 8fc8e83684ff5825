"""values.schema.json: the schema of each value, from its default and the rules in its comment, without other keys."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from helm.generate.values import Value

_DIALECT = "http://json-schema.org/draft-07/schema#"


def of(values: Value, definitions: Mapping[str, Any]) -> str:
    """Return the schema of all values as JSON. Their rules may refer to the definitions."""
    whole = {**_object(values), "definitions": definitions}
    # Helm passes global values to every subchart.
    whole["properties"]["global"] = {"type": "object"}
    return json.dumps({"$schema": _DIALECT, **whole}, indent=2, ensure_ascii=False) + "\n"


def _object(value: Value) -> dict[str, Any]:
    described = {"description": value.description} if value.description else {}
    properties = {part.path[-1]: _object(part) if part.parts else _leaf(part) for part in value.parts}
    return {"type": "object", **described, "additionalProperties": False, "properties": properties}


def _leaf(value: Value) -> dict[str, Any]:
    return {"description": value.description, **_kind(value.default), **value.rules}


def _kind(default: Any) -> dict[str, Any]:
    if isinstance(default, bool):
        return {"type": "boolean"}
    if isinstance(default, int | float):
        return {"type": "number", "minimum": 0}
    if isinstance(default, str):
        return {"type": "string"}
    return {"type": "array" if isinstance(default, list) else "object"}
