"""Generates a structural OpenAPI v3 schema for Kubernetes from the models.

The Kubernetes fields are strict. `config` and `backend` are described for `kubectl explain`, but open: pydantic
validates them, with the path and the nearest valid name in its messages, and a strict schema would let the API server
refuse them first. So the fields below them keep unknown keys, have no type and are nullable: in fields that are not
nullable, the API server drops a null before any validation.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pydantic.fields import FieldInfo

from trainwright_api.generate.built import lack_of
from trainwright_api.generate.hints import with_default, with_type
from trainwright_api.schema.choice import Choice
from trainwright_api.schema.field_schema import FieldSchema, description_of, schema_of
from trainwright_api.schema.section import KubernetesSection, Section

Schema = dict[str, Any]

KEEP_UNKNOWN: Schema = {"x-kubernetes-preserve-unknown-fields": True}
MOST_ITEMS = 10_000
MAX_CHARACTERS = 4096

_EMPTIED_TO_NULL = ("section", "map")
"""The kinds that must be nullable: server-side apply turns a mapping into null when its last key is removed."""

_TYPES = {"flag": "boolean", "integer": "integer", "number": "number", "text": "string"}
_LIMITS = {"min_length": "minLength", "max_length": "maxLength", "pattern": "pattern", "ge": "minimum", "le": "maximum"}
_COUNTS = {
    "list": {"min_length": "minItems", "max_length": "maxItems"},
    "map": {"min_length": "minProperties", "max_length": "maxProperties"},
}


def strict(section: type[Section]) -> Schema:
    """Return the strict schema of a section of Kubernetes fields: the API server does not keep undeclared fields."""
    schema: Schema = {"type": "object", "description": first_line(section)}
    fields = section.model_fields.items()
    properties = {info.alias or name: _marked(section, name, _field(info)) for name, info in fields}
    required = [info.alias or name for name, info in section.model_fields.items() if info.is_required()]
    schema["properties"] = properties
    if required:
        schema["required"] = required
    return schema | (KEEP_UNKNOWN if section.model_config.get("extra") == "allow" else {})


def opened(section: type[Section], depth: int) -> Schema:
    """Return the schema of a Ludwig section: described for `depth` levels, and open, because pydantic validates it."""
    schema = dict(KEEP_UNKNOWN)
    if depth:
        fields = section.model_fields.items()
        schema["properties"] = {name: _marked(section, name, _described(info, depth - 1)) for name, info in fields}
    return schema


def _marked(section: type[Section], name: str, schema: Schema) -> Schema:
    """Add the unbuilt part of the field to its description, for `kubectl explain`."""
    missing = lack_of(section, name)
    return schema | ({"description": f"{schema['description']} {missing}"} if missing else {})


def first_line(section: type[Section]) -> str:
    """Return the first line of a section's docstring."""
    return (section.__doc__ or "").strip().partition("\n")[0]


def _field(info: FieldInfo) -> Schema:
    field = schema_of(info)
    schema = _strict_value(field) | {"description": with_default(info)}
    if field.kind in _EMPTIED_TO_NULL and not info.is_required():
        schema["nullable"] = True
    extra = info.json_schema_extra
    if isinstance(extra, Mapping) and extra.get("x-stored-default"):
        schema["default"] = info.default
    return schema


def _strict_value(field: FieldSchema) -> Schema:
    match field.kind:
        case "section":
            return strict(field.section) if issubclass(field.section, KubernetesSection) else _ludwigs(field.section)
        case "words":
            return {"type": "string", "enum": list(field.words)}
        case "list":
            return {"type": "array", "items": _item(field)} | _counts(field) | _list_type(field)
        case "map":
            return {"type": "object"} | _values(field) | _counts(field) | _key_rule(field)
        case "union":
            return _int_or_string(field)
        case "any":
            return dict(KEEP_UNKNOWN)
        case _:
            return {"type": _TYPES[field.kind]} | _limits(field)


def _item(field: FieldSchema) -> Schema:
    assert field.item is not None
    return _strict_value(field.item)


def _values(field: FieldSchema) -> Schema:
    item = _item(field)
    return dict(KEEP_UNKNOWN) if item == KEEP_UNKNOWN else {"additionalProperties": item}


def _limits(field: FieldSchema) -> Schema:
    schema: Schema = {_LIMITS[name]: value for name, value in field.limits.items() if name in _LIMITS}
    for name, limit in (("gt", "minimum"), ("lt", "maximum")):
        if name in field.limits:
            schema |= {limit: field.limits[name], f"exclusive{limit.capitalize()}": True}
    if field.kind == "integer":
        schema["format"] = "int64"
    elif field.kind == "text":
        schema.setdefault("maxLength", MAX_CHARACTERS)
    return schema


def _counts(field: FieldSchema) -> Schema:
    names = _COUNTS[field.kind]
    found = {names[name]: value for name, value in field.limits.items() if name in names}
    return {names["max_length"]: MOST_ITEMS} | found


def _list_type(field: FieldSchema) -> Schema:
    if field.keyed_by:
        return {"x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": [field.keyed_by]}
    return {"x-kubernetes-list-type": "atomic"}


def _key_rule(field: FieldSchema) -> Schema:
    if not field.keys or not field.keys.pattern:
        return {}
    return {"x-kubernetes-validations": [{"rule": field.keys.rule, "message": f"expected {field.keys.expected}"}]}


def _int_or_string(field: FieldSchema) -> Schema:
    """Return the schema for an integer or a text with a pattern: the only union of a structural schema."""
    schema: Schema = {"anyOf": [{"type": "integer"}, {"type": "string"}], "x-kubernetes-int-or-string": True}
    for branch in field.branches:
        limits = _limits(branch) if branch.kind != "words" else {"pattern": f"^({'|'.join(branch.words)})$"}
        schema |= {name: value for name, value in limits.items() if name != "format"}
    return {"maxLength": 64} | schema


def _ludwigs(section: type[Section]) -> Schema:
    """Return an open schema with a type. CEL rules see only typed fields, so `config` and `backend` need one."""
    return {"type": "object"} | opened(section, _DEPTHS[section.__name__])


def _described(info: FieldInfo, depth: int) -> Schema:
    return _open_value(schema_of(info), depth) | {"description": with_type(info), "nullable": True}


def _open_value(field: FieldSchema, depth: int) -> Schema:
    if field.kind == "section":
        return opened(field.section, depth)
    if field.kind == "list" and field.item and field.item.choice:
        return {**KEEP_UNKNOWN, "items": _common(field.item.choice)}
    return dict(KEEP_UNKNOWN)


def _common(choice: Choice) -> Schema:
    """Return the schema of the fields that all sections of a choice have, such as the name of a feature."""
    sections = [choice.section(word) for word in choice.words]
    names = [name for name in sections[0].model_fields if all(name in other.model_fields for other in sections)]
    properties = {name: _shared([section.model_fields[name] for section in sections]) for name in names}
    properties["type"]["description"] = f"One of {', '.join(choice.words)}."
    return {**KEEP_UNKNOWN, "nullable": True, "properties": properties}


def _shared(infos: list[FieldInfo]) -> Schema:
    """Return the schema of a field that several sections share. Types and defaults that differ are omitted."""
    is_same = len({with_type(info) for info in infos}) == 1
    return _described(infos[0], 0) | ({} if is_same else {"description": description_of(infos[0])})


_DEPTHS = {"Backend": 5, "ModelConfig": 2}
"""The described levels of the open sections: all of the backend, and the part of a config that depends on no type."""
