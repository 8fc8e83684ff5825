"""Functions to read objects that others write. A missing value, or one of a wrong type, reads as absent; none
raises."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from typing import Any

from trainwright_operator.model import times

NEVER = datetime(1970, 1, 1, tzinfo=UTC)
"""The creation time of an object that has none."""


def mapping(value: Any, *path: str) -> Mapping[str, Any]:
    """Return the mapping at a path of keys, empty if there is none."""
    for key in path:
        value = value.get(key) if isinstance(value, Mapping) else None
    return value if isinstance(value, Mapping) else {}


def mappings(value: Any) -> Iterator[Mapping[str, Any]]:
    """Yield the mappings in a list."""
    return (item for item in value if isinstance(item, Mapping)) if isinstance(value, list) else iter(())


def text(value: Any) -> str:
    return value if isinstance(value, str) else ""


def number(value: Any) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def time(value: Any) -> datetime | None:
    """Return the time in UTC. Go's zero time, which KubeRay writes, reads as None."""
    found = times.read(text(value))
    if found is None or not NEVER.year < found.year < datetime.max.year:
        return None
    return found.astimezone(UTC)


def condition(status: Mapping[str, Any], kind: str) -> Mapping[str, Any] | None:
    """Return the condition of that type if its status is True."""
    for found in mappings(status.get("conditions")):
        if found.get("type") == kind and found.get("status") == "True":
            return found
    return None
