"""Additions to a field's description for `kubectl explain`: the default, and the type if the schema has none."""

from __future__ import annotations

import re
from dataclasses import replace

from pydantic.fields import FieldInfo

from trainwright_api.generate.words import default_of, type_of
from trainwright_api.schema.field_schema import Shape, description_of, shape_of
from trainwright_api.schema.section import Section


def with_default(info: FieldInfo) -> str:
    """Return the description of a field whose type is in the schema. Unions have no type there, so it is added."""
    shape = shape_of(info)
    union = shape.item if shape.kind == "map" and shape.item else shape
    kind = union.expected if union is shape else f"each {union.expected}" * bool(union.expected)
    return _with(description_of(info), kind, _default(info, shape))


def with_type(info: FieldInfo) -> str:
    """Return the description of a field that has no type in the schema."""
    shape = shape_of(info)
    line = description_of(info)
    return _with(line, _kind(shape, line), _default(info, shape))


def _with(line: str, *hints: str) -> str:
    text = "; ".join(hint for hint in hints if hint)
    return f"{line} [{text}]" if text else line


def _default(info: FieldInfo, shape: Shape) -> str:
    value = default_of(info, shape).strip('`"')
    return "" if value in ("", "**required**", "null", "[]", "{}") else f"default: {value}"


def _kind(shape: Shape, line: str) -> str:
    """Return the type in words, or "" if the description has it. Nullability is left to the description."""
    words = shape.choice.words if shape.choice else shape.words
    if words:
        return "" if all(word in line for word in words) else f"one of {', '.join(words)}"
    if shape.kind in ("section", "any") or (shape.item and (shape.item.choice or shape.item.kind == "any")):
        return ""
    return shape.expected or _in_words(replace(shape, nullable=False))


def _in_words(shape: Shape) -> str:
    text = type_of(shape, _unlinked).replace("`", "")
    return re.sub(r" \(([≥>≤<][^)]*)\)", r" \1", text)


def _unlinked(_: type[Section], text: str) -> str:
    return text
