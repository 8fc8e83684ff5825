"""The lines about a word that a field does not accept: the built words, and the one that was probably meant."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

from trainwright_api.checks import support
from trainwright_api.problems import nearest, question
from trainwright_api.schema.section import Section, unknown_word

_TYPES: Mapping[str, tuple[str, ...]] = {
    **dict.fromkeys(("float", "double", "int", "integer"), ("number",)),
    **dict.fromkeys(("str", "string"), ("category", "text")),
    **dict.fromkeys(("bool", "boolean"), ("binary",)),
}
"""Types of a column by their names in other programs, and the types of features that hold their values."""

_CHOICE = re.compile(r"'([^']*)'|(-?\d+)")
"""A text or a number in pydantic's list of the expected values."""


def line_of_choice(context: Mapping[str, Any], name: str) -> str:
    """Return the line about a word that a field does not have, from the context of the error and the field's name."""
    noun, found, words = context["noun"], context["found"], context["expected"]
    if noun.endswith(" feature type") and found.casefold() in _TYPES:
        return f"{found!r} is no {noun}: did you mean {' or '.join(map(repr, _TYPES[found.casefold()]))}?"
    of_field = _words_of(context.get("section"), name)
    built = (support.built_among(noun, words) if of_field is None else of_field) or words
    if nearest(found, words) in built:
        return unknown_word(noun, found, built).message()
    return f"{found!r} is no {noun}: expected one of {', '.join(built)}"


def built_values(expected: str, section: type[Section] | None, name: str) -> list[tuple[str, str]]:
    """Return the built values of a field, each as a text or as a number, from pydantic's list of all."""
    built = _words_of(section, name)
    values = _CHOICE.findall(expected)
    return [(text, number) for text, number in values if built is None or (text or number) in built]


def meant_value(value: Any, expected: Iterable[tuple[str, str]]) -> str:
    """Return the advice on a value: the nearest text, or that it is one of the numbers in quotes."""
    if not isinstance(value, str):
        return ""
    if ("", value) in (values := list(expected)):
        return "write it without quotes"
    return question(value, [text for text, _ in values if text])


def _words_of(section: type[Section] | None, name: str) -> tuple[str, ...] | None:
    return None if section is None else support.words_of(section, name)
