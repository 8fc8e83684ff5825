"""The schema of `jobs.podTemplate`: that of `spec.podTemplate` in the CRD, as JSON Schema."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ruamel.yaml import YAML

from trainwright_api.resource.kubernetes import ROLES

_ROLE = "#/definitions/role"
_OPEN = "x-kubernetes-preserve-unknown-fields"


def definitions(crd: str) -> dict[str, Any]:
    """Return the definitions `podTemplate` and `role`. The parts for roles have the same fields as podTemplate."""
    version = YAML(typ="safe").load(crd)["spec"]["versions"][0]
    found = version["schema"]["openAPIV3Schema"]["properties"]["spec"]["properties"]["podTemplate"]
    role = _closed(found["properties"][ROLES[0]])
    fields = {name: {"$ref": f"{_ROLE}/properties/{name}"} for name in role["properties"]}
    parts = {name: {"$ref": _ROLE} for name in ROLES}
    _allow_null(role)
    whole = {"type": "object", "additionalProperties": False, "properties": {**fields, **parts}}
    return {"podTemplate": whole, "role": role}


def _closed(schema: Mapping[str, Any]) -> dict[str, Any]:
    """Return the schema without Kubernetes' own keywords. Objects refuse unknown keys, unless Kubernetes keeps them."""
    kept = {key: value for key, value in schema.items() if not key.startswith("x-") and key != "nullable"}
    if "properties" in kept:
        kept["properties"] = {name: _closed(part) for name, part in kept["properties"].items()}
        for name in set(kept["properties"]) - set(kept.get("required", ())):
            _allow_null(kept["properties"][name])
        if not schema.get(_OPEN):
            kept["additionalProperties"] = False
    for key in ("items", "additionalProperties"):
        if isinstance(kept.get(key), Mapping):
            kept[key] = _closed(kept[key])
    return kept


def _allow_null(schema: dict[str, Any]) -> None:
    """Let a field that may be absent be null: in values, null removes a default."""
    if "type" in schema:
        schema["type"] = [schema["type"], "null"]
    if "enum" in schema:
        schema["enum"] = [*schema["enum"], None]
