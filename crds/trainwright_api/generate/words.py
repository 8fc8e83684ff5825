"""A field's type and default in words, for the reference."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any

from pydantic.fields import FieldInfo
from pydantic_core import PydanticUndefined

from trainwright_api.schema.choice import Choice
from trainwright_api.schema.field_schema import Shape
from trainwright_api.schema.section import Section

Link = Callable[[type[Section], str], str]
"""Returns a link with this text to a section's table."""

_KINDS = {"any": "anything", "flag": "true or false", "integer": "whole number", "number": "number", "text": "text"}
_SIGNS = {"gt": ">", "ge": "≥", "lt": "<", "le": "≤"}
MOST_WORDS = 40
_UNLIMITED = 2**31 - 1
"""Limits from this value on protect the API server and are not shown."""


def type_of(shape: Shape, link: Link) -> str:
    """Return the type of a field in words."""
    return " or ".join([*_alternatives(shape, link), *(["null"] if shape.nullable else [])])


def default_of(info: FieldInfo, shape: Shape) -> str:
    """Return the default of a field in words."""
    if info.is_required():
        return "**required**"
    if info.default is not PydanticUndefined:
        return "" if info.default is None and not shape.nullable else f"`{json.dumps(info.default)}`"
    if shape.kind == "choice" and shape.choice and shape.choice.default:
        return f"`{shape.choice.default}`"
    return {"list": "`[]`", "map": "`{}`"}.get(shape.kind, "")


def by_class(choice: Choice) -> Iterator[tuple[type[Section], list[str]]]:
    """Yield the sections of a choice, each with all its words."""
    found: dict[type[Section], list[str]] = {}
    for word in choice.words:
        found.setdefault(choice.section(word), []).append(word)
    yield from found.items()


def _alternatives(shape: Shape, link: Link) -> list[str]:
    match shape.kind:
        case "section":
            return [link(shape.section, "section")]
        case "choice":
            assert shape.choice is not None
            return [_choice(shape.choice, link)]
        case "words":
            return [", ".join(f"`{word}`" for word in shape.words)]
        case "list":
            return [f"list of {_item(shape, link)}{_range(shape)}"]
        case "map":
            return [f"keys with {_item(shape, link)}"]
        case "kinds":
            return [text for branch in shape.branches for text in _alternatives(branch, link)]
        case _:
            return [_KINDS[shape.kind] + _range(shape)]


def _item(shape: Shape, link: Link) -> str:
    assert shape.item is not None
    return type_of(shape.item, link)


def _choice(choice: Choice, link: Link) -> str:
    links = [link(section, f"`{word}`") for section, words in by_class(choice) for word in words]
    return f"{', '.join(links[:MOST_WORDS])}{', …' if len(links) > MOST_WORDS else ''}"


def _range(shape: Shape) -> str:
    limits = shape.limits
    bounds = [
        f"{sign} {limits[name]:,.15g}"
        for name, sign in _SIGNS.items()
        if name in limits and abs(limits[name]) < _UNLIMITED
    ]
    if shape.kind == "list" and limits.get("min_length", 0) > 0:
        bounds.append(f"at least {limits['min_length']}")
    return f" ({', '.join(bounds)})" if bounds else ""


def cell(value: Any) -> str:
    """Return the value as text for a Markdown table."""
    return str(value).replace("|", "\\|").replace("\n", " ")
