"""Writes plain data as block-style YAML that every YAML version reads alike. Ambiguous texts are quoted."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

from trainwright_api.yaml.scalars import is_boolean_elsewhere, resolve

_PLAIN = re.compile(r"[A-Za-z][-A-Za-z0-9_./]*")


def dump(data: Mapping[str, Any]) -> str:
    """Return the mapping as a YAML document."""
    return "".join(f"{line}\n" for line in _mapping(data))


def _mapping(data: Mapping[str, Any]) -> Iterator[str]:
    for key, value in data.items():
        nested = list(_block(value))
        if nested:
            yield f"{_scalar(key)}:"
            indent = "" if isinstance(value, list) else "  "
            yield from (f"{indent}{line}" for line in nested)
        else:
            yield f"{_scalar(key)}: {_scalar(value)}"


def _block(value: Any) -> Iterator[str]:
    if isinstance(value, Mapping):
        yield from _mapping(value)
    elif isinstance(value, list):
        for item in value:
            lines = list(_block(item)) or [_scalar(item)]
            yield f"- {lines[0]}"
            yield from (f"  {line}" for line in lines[1:])


def _scalar(value: Any) -> str:
    if isinstance(value, str) and _PLAIN.fullmatch(value) and not is_boolean_elsewhere(value):
        return value if isinstance(resolve(value), str) else json.dumps(value)
    return json.dumps(value, ensure_ascii=False)
