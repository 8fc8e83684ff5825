"""Kubernetes quantities as numbers: "500m" is 0.5, "16Gi" is 17179869184.0."""

from __future__ import annotations

import re
from typing import Any

_PATTERN = re.compile(r"([+-]?(?:\d+(?:\.\d*)?|\.\d+))(?:([KMGTPE]i|[numkMGTPE])|[eE]([+-]?\d+))?")
_DECIMAL = {"n": -3, "u": -2, "m": -1, "k": 1, "M": 2, "G": 3, "T": 4, "P": 5, "E": 6}
_BINARY = "KMGTPE"


def amount(quantity: Any) -> float:
    """Return the quantity in base units (cores, bytes, pieces), 0 if it is not a valid quantity."""
    found = _PATTERN.fullmatch(str(quantity))
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
