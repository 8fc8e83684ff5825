"""The chart's values, with the descriptions and rules from the comments in values.yaml."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from ruamel.yaml import YAML

_LINE = re.compile(r"(?P<indent> *)(?:# ?(?P<comment>.*)|(?P<key>\w+):.*)?")
_SCHEMA = "@ "

Path = tuple[str, ...]


@dataclass(frozen=True)
class Value:
    """One value. `parts` are the values below it that have their own comments."""

    path: Path
    default: Any
    description: str
    rules: Mapping[str, Any]
    """The keys that the comment lines with @ add to its schema."""
    parts: tuple[Value, ...]

    @property
    def name(self) -> str:
        return ".".join(self.path)

    def leaves(self) -> Iterator[Value]:
        """Yield the values that can be set: the value itself, or its parts."""
        if not self.parts:
            yield self
        for part in self.parts:
            yield from part.leaves()


def values(text: str) -> Value:
    """Return the root of all values. Raises ValueError for a value without a comment."""
    comments = dict(_commented(text))
    return _value((), YAML(typ="safe").load(text), comments)


def _value(path: Path, default: Any, comments: Mapping[Path, list[str]]) -> Value:
    lines = comments.get(path, [])
    words = " ".join(line for line in lines if not line.startswith(_SCHEMA))
    rules = _rules(" ".join(line.removeprefix(_SCHEMA) for line in lines if line.startswith(_SCHEMA)))
    described_below = any(
        len(other) > len(path) and other[: len(path)] == path for other, found in comments.items() if found
    )
    if not described_below and not words:
        raise ValueError(f"values.yaml: {'.'.join(path)} has no comment")
    parts = tuple(_value((*path, key), default[key], comments) for key in default) if described_below else ()
    return Value(path, default, words, rules, parts)


def _rules(text: str) -> dict[str, Any]:
    """Return the keys of all JSON objects in the text. Of two equal keys, the later one counts."""
    rules: dict[str, Any] = {}
    while text := text.strip():
        found, end = json.JSONDecoder().raw_decode(text)
        rules |= found
        text = text[end:]
    return rules


def _commented(text: str) -> Iterator[tuple[Path, list[str]]]:
    """Yield every key with the comment lines directly above it."""
    above: list[str] = []
    path: Path = ()
    for line in text.splitlines():
        found = _LINE.fullmatch(line)
        if found is None or not (found["comment"] or found["key"]):
            above = []
        elif found["key"]:
            path = (*path[: len(found["indent"]) // 2], found["key"])
            yield path, above
            above = []
        else:
            above.append(found["comment"])
