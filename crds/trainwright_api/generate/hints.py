"""Additions to a field's description for `kubectl explain`: the default, and the type if the schema has none."""

from __future__ import annotations

import re
from dataclasses import replace

from pydantic.fields import FieldInfo

from trainwright_api.generate.words import default_of, type_of
from trainwright_api.schema.field_schema import FieldSchema, description_of, schema_of
from trainwright_api.schema.section import Section


def with_default(info: FieldInfo) -> str:
    """Return the description of a field whose type is in the schema. Unions have no type there, so it is added."""
    schema = schema_of(info)
    union = schema.item if schema.kind == "map" and schema.item else schema
    kind = union.expected if union is schema else f"each {union.expected}" * bool(union.expected)
    return _with(description_of(info), kind, _default(info, schema))


def with_type(info: FieldInfo) -> str:
    """Return the description of a field that has no type in the schema."""
    schema = schema_of(info)
    line = description_of(info)
    return _with(line, _kind(schema, line), _default(info, schema))


def _with(line: str, *hints: str) -> str:
    text = "; ".join(hint for hint in hints if hint)
    return f"{line} [{text}]" if text else line


def _default(info: FieldInfo, schema: FieldSchema) -> str:
    value = default_of(info, schema).strip('`"')
    return "" if value in ("", "**required**", "null", "[]", "{}") else f"default: {value}"


def _kind(schema: FieldSchema, line: str) -> str:
    """Return the type in words, or "" if the description has it. Nullability is left to the description."""
    words = schema.choice.words if schema.choice else schema.words
    if words:
        return "" if all(word in line for word in words) else f"one of {', '.join(words)}"
    if schema.kind in ("section", "any") or (schema.item and (schema.item.choice or schema.item.kind == "any")):
        return ""
    return schema.expected or _in_words(replace(schema, nullable=False))


def _in_words(schema: FieldSchema) -> str:
    text = type_of(schema, _unlinked).replace("`", "")
    return re.sub(r" \(([≥>≤<][^)]*)\)", r" \1", text)


def _unlinked(_: type[Section], text: str) -> str:
    return text
