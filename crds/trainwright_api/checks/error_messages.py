"""Turns pydantic's errors into messages: the value found, the expected value and the nearest valid name."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from pydantic import ValidationError
from pydantic.alias_generators import to_camel

from trainwright_api.checks.examples import example
from trainwright_api.checks.places import OUTSIDE_CONFIG, advice, homes, known_keys, near_key
from trainwright_api.checks.words import built_values, line_of_choice, meant_value
from trainwright_api.config.model import ModelConfig
from trainwright_api.paths import Location, dotted
from trainwright_api.problems import question
from trainwright_api.resource.kubernetes import FORMS
from trainwright_api.schema.section import shown

MOST_NAMES = 14
FEW_NAMES = 8
MAX_CHARACTERS = 60

_EXPECTED: Mapping[str, str] = {
    "int_type": "a whole number",
    "int_parsing": "a whole number",
    "int_from_float": "a whole number",
    "float_type": "a number",
    "float_parsing": "a number",
    "finite_number": "a finite number",
    "bool_type": "true or false",
    "bool_parsing": "true or false",
    "string_type": "a text",
    "string_unicode": "a text in UTF-8",
    "list_type": "a list",
    "tuple_type": "a list",
    "dict_type": "keys and values",
    "mapping_type": "keys and values",
    "model_type": "keys and values",
    "none_required": "nothing (null)",
    "greater_than": "more than {gt}",
    "greater_than_equal": "at least {ge}",
    "less_than": "less than {lt}",
    "less_than_equal": "at most {le}",
    "multiple_of": "a multiple of {multiple_of}",
    "string_too_short": "at least {min_length} characters",
    "string_too_long": "at most {max_length} characters",
}
_NUMBER = re.compile(r"[-+]?\.?\d[\d._]*([eE][-+]?\d+)?")
_PLAIN_NUMBER = ": write it without quotes and underscores"
_WORDS_OF_BOOLEANS = {"yes": "true", "on": "true", "y": "true", "no": "false", "off": "false", "n": "false"}


Line = dict[str, Any]
"""One of pydantic's errors, without "[key]" in its location."""


def lines(error: ValidationError) -> list[tuple[Location, str]]:
    """Return each mistake as its location in the data and one line. Only the first mistake of a location is kept."""
    found: dict[Location, str] = {}
    meant: set[Location] = set()
    for raw in error.errors(include_url=False):
        location = tuple(key for key in raw["loc"] if key != "[key]")
        line: Line = {**raw, "loc": location}
        found.setdefault(location, _sentence(line))
        meant.update(_meant(line))
    return [(at, text) for at, text in found.items() if not (at in meant and text.startswith("missing"))]


def _meant(line: Line) -> Iterator[Location]:
    """Yield the keys that an unknown key probably stands for, so that they are not also reported as missing."""
    if line["type"] != "unknown_key":
        return
    key, section = str(line["loc"][-1]), line["ctx"]["section"]
    for home in homes(key, line["input"], section):
        yield ("spec", *filter(None, home.split(".")), key)
    if near := near_key(key, section):
        yield (*line["loc"][:-1], near)
        if section is ModelConfig and near in OUTSIDE_CONFIG:
            yield ("spec", OUTSIDE_CONFIG[near])


def _sentence(line: Line) -> str:
    kind: str = line["type"]
    if kind == "relation":  # its message is the whole sentence
        return str(line["msg"])
    if kind in _SPECIAL:
        return _SPECIAL[kind](line)
    expected = _EXPECTED.get(kind, "something else").format(**_context(line))
    if expected == "a whole number" and _is_size(line["loc"]):
        expected = "a number of bytes"
    expected = re.sub(r"\b1 characters$", "1 character", expected)
    return f"expected {expected}, found {_found(line['input'])}{_advice(kind, line['input'])}"


def _is_size(location: Location) -> bool:
    """Return True if the key names the unit of its number, as maxBytes and window_size_bytes do."""
    return bool(location) and str(location[-1]).casefold().endswith("bytes")


def _context(line: Line) -> dict[str, Any]:
    """Return pydantic's limits, with 1.0 as 1."""
    context = line.get("ctx", {})
    return {name: f"{value:g}" if isinstance(value, float) else value for name, value in context.items()}


def _found(value: Any) -> str:
    text = shown(value)
    return text if len(text) <= MAX_CHARACTERS else f"{text[:MAX_CHARACTERS]}…"


def _advice(kind: str, value: Any) -> str:
    if kind == "bool_type" and isinstance(value, str) and value.casefold() in _WORDS_OF_BOOLEANS:
        return f": write {_WORDS_OF_BOOLEANS[value.casefold()]}"
    if kind in ("int_type", "float_type") and isinstance(value, str) and _NUMBER.fullmatch(value):
        return _PLAIN_NUMBER
    return ""


def _unknown_key(line: Line) -> str:
    key, value, section = str(line["loc"][-1]), line["input"], line["ctx"]["section"]
    known, hint = known_keys(section), advice(key, value, section)
    if homes(key, value, section):
        return f"unknown here: {hint}"
    if hint and len(known) > FEW_NAMES:
        return f"unknown: {hint}"
    return f"unknown{f': {hint}' if hint else ';'} {_owner(line['loc'])} has {names(known)}"


def _owner(location: Location) -> str:
    return dotted(location[:-1]) or ("spec" if location[:-1] else "the file")


def _other_spelling(line: Line) -> str:
    return f"unknown: did you mean {to_camel(str(line['loc'][-1]))!r}?"


def _word(line: Line) -> str:
    value, context = line["input"], line["ctx"]
    choices = built_values(context["expected"], context.get("section"), str(line["loc"][-1]))
    meant = meant_value(value, choices)
    expected = names([text or number for text, number in choices], "or")
    return f"expected {expected}, found {_found(value)}{f': {meant}' if meant else ''}"


def _unknown_word(line: Line) -> str:
    return line_of_choice(line["ctx"], str(line["loc"][-1]))


def _kind(line: Line) -> str:
    value, message, context = line["input"], str(line["msg"]), line.get("ctx", {})
    if context.get("number") and isinstance(value, str) and _NUMBER.fullmatch(value):
        return f"{message}{_PLAIN_NUMBER}"
    hint = question(value, context.get("words", [])) if isinstance(value, str) else ""
    return f"{message}: {hint}" if hint else message


def _pattern(line: Line) -> str:
    pattern = line["ctx"]["pattern"]
    return f"expected {FORMS.get(pattern, f'a text like {pattern}')}, found {_found(line['input'])}"


def _section(line: Line) -> str:
    context, value = line["ctx"], line["input"]
    instance = example(context["section"], value, context.get("key")) if "section" in context else ""
    return f"expected keys and values, as in {instance}, found {_found(value)}" if instance else str(line["msg"])


def _count(line: Line) -> str:
    context = line["ctx"]
    few, limit = line["type"] == "too_short", context.get("min_length", context.get("max_length"))
    actual = context.get("actual_length", "more")
    return f"expected {'at least' if few else 'at most'} {limit} in it, found {actual or 'none'}"


def names(words: list[str], before_last: str = "") -> str:
    """Return the names, separated by commas. A list of more than `MOST_NAMES` is shortened."""
    if len(words) > MOST_NAMES:
        return f"{', '.join(words[:MOST_NAMES])}, … ({len(words)} in all)"
    if before_last and len(words) > 1:
        return f"{', '.join(words[:-1])} {before_last} {words[-1]}"
    return ", ".join(words)


_SPECIAL: Mapping[str, Callable[[Line], str]] = {
    "missing": lambda _: "missing: it must be given",
    "unknown_key": _unknown_key,
    "extra_forbidden": _other_spelling,
    "unknown_word": _unknown_word,
    "section_type": _section,
    "literal_error": _word,
    "kind": _kind,
    "string_pattern_mismatch": _pattern,
    "too_short": _count,
    "too_long": _count,
}
