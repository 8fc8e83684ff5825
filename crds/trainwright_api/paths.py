"""The path of a value in a file: keys and list positions, written as `config.input_features[3].type`."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

Key = str | int
Location = tuple[Key, ...]


def dotted(location: Iterable[Key]) -> str:
    """Return the path as users write it, without `spec`, because a file may have its fields at the top level."""
    keys = list(location)
    path = ""
    for key in keys[1:] if len(keys) > 1 and keys[0] == "spec" else keys:
        path += f"[{key}]" if isinstance(key, int) else f".{key}" if path else key
    return path


def place(location: Location, data: Any) -> tuple[int, ...]:
    """Return a sort key that orders locations as in the file. A missing key comes after its siblings."""
    order: list[int] = []
    for key in location:
        if isinstance(data, dict):
            keys = list(data)
            order.append(keys.index(key) if key in data else len(keys))
            data = data.get(key)
        elif isinstance(data, list) and isinstance(key, int) and key < len(data):
            order.append(key)
            data = data[key]
        else:
            break
    return tuple(order)
