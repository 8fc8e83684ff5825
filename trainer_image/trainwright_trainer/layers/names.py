"""Feature names as module names. torch allows neither dots nor the attribute names of `nn.ModuleDict` in them."""

from __future__ import annotations

from torch import nn

_TAKEN = frozenset(dir(nn.ModuleDict()))


def module_key(feature: str) -> str:
    """The feature's name, percent-encoded where torch refuses it. Different features have different keys."""
    key = feature.replace("%", "%25").replace(".", "%2E")
    return f"%{key}" if key in _TAKEN else key
