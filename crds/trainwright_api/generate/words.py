"""A field's type and default in words, for the reference."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any

from pydantic.fields import FieldInfo
from pydantic_core import PydanticUndefined

from trainwright_api.schema.choice import Choice
from trainwright_api.schema.field_schema import FieldSchema
from trainwright_api.schema.section import Section

Link = Callable[[type[Section], str], str]
"""Returns a link with this text to a section's table."""

_KINDS = {"any": "anything", "flag": "true or false", "integer": "whole number", "number": "number", "text": "text"}
_SIGNS = {"gt": ">", "ge": "≥", "lt": "<", "le": "≤"}
MOST_WORDS = 40
_UNLIMITED = 2**31 - 1
"""Limits from this value on protect the API server and are not shown."""


def type_of(schema: FieldSchema, link: Link) -> str:
    """Return the type of a field in words."""
    return " or ".join([*_alternatives(schema, link), *(["null"] if schema.nullable else [])])


def default_of(info: FieldInfo, schema: FieldSchema) -> str:
    """Return the default of a field in words."""
    if info.is_required():
        return "**required**"
    if info.default is not PydanticUndefined:
        return "" if info.default is None and not schema.nullable else f"`{json.dumps(info.default)}`"
    if schema.kind == "choice" and schema.choice and schema.choice.default:
        return f"`{schema.choice.default}`"
    return {"list": "`[]`", "map": "`{}`"}.get(schema.kind, "")


def by_class(choice: Choice) -> Iterator[tuple[type[Section], list[str]]]:
    """Yield the sections of a choice, each with all its words."""
    found: dict[type[Section], list[str]] = {}
    for word in choice.words:
        found.setdefault(choice.section(word), []).append(word)
    yield from found.items()


def _alternatives(schema: FieldSchema, link: Link) -> list[str]:
    match schema.kind:
        case "section":
            return [link(schema.section, "section")]
        case "choice":
            assert schema.choice is not None
            return [_choice(schema.choice, link)]
        case "words":
            return [", ".join(f"`{word}`" for word in schema.words)]
        case "list":
            return [f"list of {_item(schema, link)}{_range(schema)}"]
        case "map":
            return [f"keys with {_item(schema, link)}"]
        case "union":
            return [text for branch in schema.branches for text in _alternatives(branch, link)]
        case _:
            return [_KINDS[schema.kind] + _range(schema)]


def _item(schema: FieldSchema, link: Link) -> str:
    assert schema.item is not None
    return type_of(schema.item, link)


def _choice(choice: Choice, link: Link) -> str:
    links = [link(section, f"`{word}`") for section, words in by_class(choice) for word in words]
    return f"{', '.join(links[:MOST_WORDS])}{', …' if len(links) > MOST_WORDS else ''}"


def _range(schema: FieldSchema) -> str:
    limits = schema.limits
    bounds = [
        f"{sign} {limits[name]:,.15g}"
        for name, sign in _SIGNS.items()
        if name in limits and abs(limits[name]) < _UNLIMITED
    ]
    if schema.kind == "list" and limits.get("min_length", 0) > 0:
        bounds.append(f"at least {limits['min_length']}")
    return f" ({', '.join(bounds)})" if bounds else ""


def cell(value: Any) -> str:
    """Return the value as text for a Markdown table."""
    return str(value).replace("|", "\\|").replace("\n", " ")
