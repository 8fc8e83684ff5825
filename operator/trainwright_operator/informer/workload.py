"""Kueue's Workload of a child, reduced to what it waits for."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from trainwright_operator.children.origin import controller_of
from trainwright_operator.model.reading import condition, mapping, mappings, text

MESSAGE_CHARACTERS = 500
"""Kueue's message names every flavor of the queue."""


@dataclass(frozen=True, slots=True)
class Workload:
    kind: str
    """The kind of the child that owns it."""
    child: str
    """The name of the child."""
    child_uid: str
    words: str


def read_workload(raw: Mapping[str, Any]) -> Workload | None:
    """Return the Workload, or None for one that waits for nothing or has no controller."""
    owner = controller_of(mapping(raw, "metadata"))
    words = "; ".join(dict.fromkeys(_words(mapping(raw, "status"))))
    return Workload(owner.kind, owner.name, owner.uid, words[:MESSAGE_CHARACTERS]) if owner and words else None


def _words(status: Mapping[str, Any]) -> Iterator[str]:
    """Yield why it was evicted, then what it waits for: quota, then admission checks."""
    evicted = condition(status, "Evicted")
    if evicted is not None:
        yield _message(evicted)
    for found in mappings(status.get("conditions")):
        if found.get("type") in ("QuotaReserved", "Admitted") and found.get("status") == "False":
            yield _message(found)


def _message(found: Mapping[str, Any]) -> str:
    return " ".join(text(found.get("message")).split()) or text(found.get("reason"))
