"""Quantities of Kubernetes, such as 500m and 16Gi, as numbers, and the resources that have them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

_QUANTITY = re.compile(r"([+-]?(?:\d+(?:\.\d*)?|\.\d+))(?:([KMGTPE]i|[numkMGTPE])|[eE]([+-]?\d+))?")
_DECIMAL = {"n": -3, "u": -2, "m": -1, "k": 1, "M": 2, "G": 3, "T": 4, "P": 5, "E": 6}
_BINARY = "KMGTPE"


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


def is_extended(resource: str) -> bool:
    """Return True for an extended resource of Kubernetes, such as a GPU or a network adapter: its name has a domain."""
    return "/" in resource


def has_equal_sides(resource: str) -> bool:
    """Return True for a resource that Kubernetes does not overcommit: its request is its limit."""
    return is_extended(resource) or resource.startswith("hugepages-")


def devices(asked: Mapping[str, Any]) -> list[str]:
    """Return the extended resources of which at least one is asked for."""
    return [name for name, quantity in asked.items() if is_extended(name) and amount(quantity)]


def exceeding(requests: Mapping[str, Any], limits: Mapping[str, Any]) -> set[str]:
    """Return the resources whose request exceeds their limit, which no pod may have."""
    return {name for name, asked in requests.items() if name in limits and amount(asked) > amount(limits[name])}
