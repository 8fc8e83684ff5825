"""Functions to read objects that others write. A missing value, or one of a wrong type, reads as absent; none
raises."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from typing import Any

from trainwright_operator.model import times

_QUANTITY = re.compile(r"([+-]?(?:\d+(?:\.\d*)?|\.\d+))(?:([KMGTPE]i|[numkMGTPE])|[eE]([+-]?\d+))?")
_DECIMAL = {"n": -3, "u": -2, "m": -1, "k": 1, "M": 2, "G": 3, "T": 4, "P": 5, "E": 6}
_BINARY = "KMGTPE"
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


def amount(quantity: Any) -> float:
    """Return a Kubernetes quantity in base units (cores, bytes, pieces): "500m" is 0.5. An invalid one is 0."""
    found = _QUANTITY.fullmatch(str(quantity))
    if found is None:
        return 0.0
    number, suffix, exponent = found.groups()
    if exponent is not None:
        return float(f"{number}e{exponent}")
    if not suffix:
        return float(number)
    if suffix.endswith("i"):
        return float(number) * 1024.0 ** (_BINARY.index(suffix[0]) + 1)
    return float(number) * 1000.0 ** _DECIMAL[suffix]
