"""Feature names as module names. torch allows neither dots nor the attribute names of `nn.ModuleDict` in them."""

from __future__ import annotations

from torch import nn

_TAKEN = frozenset(dir(nn.ModuleDict()))
_UNQUOTED = {ord(sign): f"%{ord(sign):02X}" for sign in '"\\\n\r\0'}
"""The characters that end a text in the Python code that torch writes of a graph."""
_REFUSED = {ord("%"): "%25", ord("."): "%2E", **_UNQUOTED}


def module_key(feature: str) -> str:
    """The feature's name, percent-encoded where torch refuses it. Different features have different keys."""
    key = feature.translate(_REFUSED)
    return f"%{key}" if key in _TAKEN else key


def tensor_name(stored: str) -> str:
    """The name of a stored tensor today: earlier versions left quotes and the like in the keys of features."""
    return stored.translate(_UNQUOTED)
