"""The lines about a word that a field does not accept: the built words, and the one that was probably meant."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

from trainwright_api.checks import support
from trainwright_api.problems import nearest, question
from trainwright_api.schema.section import Section, unknown_word

_TYPES: Mapping[str, tuple[str, ...]] = {
    **dict.fromkeys(("float", "double", "int", "integer", "numerical"), ("number",)),
    **dict.fromkeys(("str", "string"), ("category", "text")),
    **dict.fromkeys(("bool", "boolean"), ("binary",)),
}
"""Types of a column by their names in other programs, and the types of features that hold their values."""

_CHOICE = re.compile(r"'([^']*)'|(-?\d+)")
"""A text or a number in pydantic's list of the expected values."""


def line_of_choice(noun: str, found: str, words: list[str]) -> str:
    """Return the line about a word that a choice does not have."""
    if noun.endswith(" feature type") and found.casefold() in _TYPES:
        return f"{found!r} is no {noun}: did you mean {' or '.join(map(repr, _TYPES[found.casefold()]))}?"
    built = support.built_among(noun, words) or words
    if nearest(found, words) in built:
        return unknown_word(noun, found, built).message()
    return f"{found!r} is no {noun}: expected one of {', '.join(built)}"


def built_values(expected: str, section: type[Section] | None, name: str) -> list[tuple[str, str]]:
    """Return the built values of a field, each as a text or as a number, from pydantic's list of all."""
    built = support.words_of(section, name) if section is not None else None
    return [(text, number) for text, number in _CHOICE.findall(expected) if built is None or text in built]


def meant_value(value: Any, expected: Iterable[tuple[str, str]]) -> str:
    """Return the advice on a value: the nearest text, or that it is one of the numbers in quotes."""
    if not isinstance(value, str):
        return ""
    if ("", value) in (values := list(expected)):
        return "write it without quotes"
    return question(value, [text for text, _ in values if text])
