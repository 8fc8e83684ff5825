"""Feature names as names of modules: torch allows no dot in them, and none that its own classes use."""

from __future__ import annotations

from torch import nn

_TAKEN = frozenset(dir(nn.ModuleDict()))


def module_key(feature: str) -> str:
    """The feature's name, percent-encoded where torch could not bear it. Different features have different keys."""
    key = feature.replace("%", "%25").replace(".", "%2E")
    return f"%{key}" if key in _TAKEN else key
