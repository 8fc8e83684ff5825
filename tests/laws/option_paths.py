"""Paths in a job, for example `config.input_features[number].encoder[dense].norm_params.eps`.

A word in brackets is the type of the section; a number is a position in a list.
"""

from __future__ import annotations

import re
from typing import Any

Job = dict[str, Any]

_PART = re.compile(r"([\w-]+)(?:\[(\w+)\])?")


def parts_of(path: str) -> list[tuple[str, str | None]]:
    """Split a path into keys, each with its word in brackets, or None."""
    return [(found[1], found[2]) for found in map(_PART.fullmatch, path.split(".")) if found]


def put(job: Job, path: str, value: Any) -> None:
    """Set `value` at the path, and create the sections on the way, of the types in the path."""
    above, _, last = path.rpartition(".")
    make(job, above)[last] = value


def make(job: Job, path: str) -> Job:
    """The section at the path. Sections that are missing or of another type are created."""
    node = job
    for key, word in parts_of(path) if path else ():
        node = _step(node, key, word)
    return node


def taken(job: Job, path: str) -> Any:
    """The value at the path in the job. Raises `KeyError` if the job does not set it."""
    node: Any = job
    for key, word in parts_of(path):
        node = node[key]
        if word is not None and isinstance(node, list):
            node = node[_position(node, word)]
    return node


def in_messages(job: Job, path: str) -> str:
    """The path as in messages: `config.input_features[0].encoder.norm_params.eps`."""
    node: Any = job
    written = []
    for key, word in parts_of(path):
        node = node.get(key) if isinstance(node, dict) else None
        if word is not None and isinstance(node, list):
            position = _position(node, word)
            node = node[position]
            written.append(f"{key}[{position}]")
        else:
            written.append(key)
    return ".".join(written)


def _step(node: Job, key: str, word: str | None) -> Job:
    if word is not None and word.isdigit():
        node.setdefault(key, [{}])
    found = node.get(key)
    if isinstance(found, list):
        section: Job = found[_position(found, word or "0")]
        return section
    if not isinstance(found, dict):
        found = node[key] = {} if found is None or word else {"type": found}
    if word is not None and found.get("type", word) != word:
        found = node[key] = {}
    if word is not None:
        found["type"] = word
    made: Job = found
    return made


def _position(items: list[Job], word: str) -> int:
    return int(word) if word.isdigit() else next(at for at, item in enumerate(items) if item["type"] == word)
