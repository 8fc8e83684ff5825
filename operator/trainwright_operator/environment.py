"""Settings from environment variables: `TRAINWRIGHT_MAX_WORKERS=8` is the field `max_workers`.

The name of a field that is itself a dataclass becomes a prefix: `TRAINWRIGHT_BACKOFF_BASE` is `backoff.base`.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import fields, is_dataclass
from typing import Any, TypeVar, get_type_hints

from trainwright_api.problems import nearest

PREFIX = "TRAINWRIGHT_"
# Kubernetes sets these variables in every pod of a namespace with a Service named trainwright.
_SERVICE_LINK = re.compile(r"_SERVICE_HOST$|_SERVICE_PORT(_[A-Z0-9_]+)?$|_PORT_\d+_(TCP|UDP)(_[A-Z]+)?$")

Read = TypeVar("Read")


def read(settings: type[Read], environment: Mapping[str, str]) -> Read:
    """Return the dataclass with the values of the environment. Raises ValueError with all mistakes in one line."""
    known = dict(_readers(settings, PREFIX))
    mistakes: list[str] = []
    values: dict[str, Any] = {}
    for name, text in environment.items():
        if name in known:
            try:
                values[name] = known[name](text.strip())
            except ValueError as error:
                mistakes.append(f"{name}: {error}, found {text!r}")
        elif name.startswith(PREFIX) and not _service_link(name, text):
            mistakes.append(_unknown(name, known))
    if mistakes:
        raise ValueError("; ".join(mistakes))
    return _made(settings, PREFIX, values)


def _readers(settings: type, prefix: str) -> Iterator[tuple[str, Callable[[str], Any]]]:
    kinds: Mapping[str, Any] = get_type_hints(settings)
    for field, kind in kinds.items():
        name = prefix + field.upper()
        if isinstance(kind, type) and is_dataclass(kind):
            yield from _readers(kind, f"{name}_")
        else:
            yield name, _READERS[kind]


def _made(settings: type[Read], prefix: str, values: Mapping[str, Any]) -> Read:
    kinds = get_type_hints(settings)
    made: dict[str, Any] = {}
    for field in fields(settings):  # type: ignore[arg-type]  # mypy: any class may be asked; ours are dataclasses
        name = prefix + field.name.upper()
        if is_dataclass(kinds[field.name]):
            made[field.name] = _made(kinds[field.name], f"{name}_", values)
        elif name in values:
            made[field.name] = values[name]
    return settings(**made)


def _unknown(name: str, known: Mapping[str, Any]) -> str:
    near = nearest(name, known)
    return f"{name}: no such setting" + (f", did you mean {near}?" if near else "")


def _service_link(name: str, text: str) -> bool:
    return bool(_SERVICE_LINK.search(name)) or text.startswith(("tcp://", "udp://"))


def _number(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not (math.isfinite(value) and value >= 0):
        raise ValueError("expected a number that is not negative")
    return value


def _whole(text: str) -> int:
    if not re.fullmatch(r"[0-9]+", text):
        raise ValueError("expected a whole number that is not negative")
    return int(text)


def _list(text: str) -> tuple[str, ...]:
    return tuple(part.strip() for part in text.split(",") if part.strip())


def _switch(text: str) -> bool:
    if text not in ("true", "false"):
        raise ValueError("expected true or false")
    return text == "true"


def _optional(text: str) -> int | None:
    return _whole(text) if text else None


def _object(text: str) -> Mapping[str, Any]:
    try:
        found = json.loads(text)
    except ValueError:
        found = None
    if not isinstance(found, dict):
        raise ValueError("expected a JSON object")
    return found


_READERS: Mapping[Any, Callable[[str], Any]] = {
    str: str,
    bool: _switch,
    int: _whole,
    float: _number,
    int | None: _optional,
    tuple[str, ...]: _list,
    Mapping[str, Any]: _object,
}
