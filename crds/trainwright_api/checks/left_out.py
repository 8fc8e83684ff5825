"""Finds names of Ludwig that the contract does not have, among the errors of a validation. They are not built yet."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from pydantic import ValidationError

from trainwright_api.checks.places import advice
from trainwright_api.paths import Location
from trainwright_api.problems import not_built


@dataclass(frozen=True)
class UnknownKey:
    """A key that the contract does not have. `hint` has the advice on it, or the word unknown."""

    location: Location
    hint: str
    is_ludwigs: bool
    """True if Ludwig has the key there."""


def unknown_keys(error: ValidationError) -> Iterator[UnknownKey]:
    """Yield the unknown keys."""
    for line in _lines(error, "unknown_key"):
        name, context = line["ctx"]["found"], line["ctx"]
        hint = advice(name, line["input"], context["section"]) or "unknown"
        yield UnknownKey(line["loc"], hint, _has_field(context["section"].__name__, name))


def unknown_words(error: ValidationError) -> Iterator[tuple[Location, str]]:
    """Yield the locations of words that Ludwig has and the contract does not, with one line for each."""
    for line in _lines(error, "unknown_word"):
        if _has_word(line["ctx"]["noun"], line["ctx"]["found"]):
            yield line["loc"], not_built(line["ctx"]["found"])


def _lines(error: ValidationError, kind: str) -> Iterator[dict[str, Any]]:
    for line in error.errors(include_url=False):
        if line["type"] == kind:
            yield {**line, "loc": tuple(key for key in line["loc"] if key != "[key]")}


# The table imports the whole contract, which takes a while: only files with unknown names need it.
def _has_field(section: str, name: str) -> bool:
    from trainwright_api.ludwig.counterparts import fields_by_class

    return name in fields_by_class().get(section, ())


def _has_word(noun: str, word: str) -> bool:
    from trainwright_api.ludwig.counterparts import words_of_choice

    return word in words_of_choice(noun)
