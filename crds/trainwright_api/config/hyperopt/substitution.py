"""Puts the values of a search's parameters into a config, as plain data.

A parameter is a path in the config, `<feature>.<field>` for a field of one feature, or `.` for a part of the config
that is merged into it. If two parameters set one value, the later one wins.
"""

from __future__ import annotations

import copy
from collections.abc import Iterator, Mapping
from typing import Any

WHOLE = "."
"""The name of a parameter whose values are parts of the whole config."""
_FEATURES = ("input_features", "output_features")
Key = str | int


def feature_names(config: Mapping[str, Any]) -> Iterator[tuple[str, tuple[str, int]]]:
    """Yield the name of each feature, and its location."""
    for section in _FEATURES:
        for position, feature in enumerate(config.get(section) or ()):
            yield str(feature.get("name")), (section, position)


def location_of(config: Mapping[str, Any], name: str) -> tuple[Key, ...]:
    """Return the location of a parameter in the config. A name that begins with a feature's name is in the feature."""
    if name == WHOLE:
        return ()
    found = {feature: at for feature, at in feature_names(config) if name.startswith(f"{feature}.")}
    if not found:
        return tuple(name.split("."))
    feature = max(found, key=len)
    return (*found[feature], *name[len(feature) + 1 :].split("."))


def substituted(config: Mapping[str, Any], values: Mapping[str, Any]) -> dict[str, Any]:
    """Return the config with the value of each parameter. The argument does not change."""
    result = copy.deepcopy(dict(config))
    for name, value in values.items():
        location = location_of(result, name)
        if location:
            _set(result, location, copy.deepcopy(value))
        elif isinstance(value, Mapping):
            result = merged(result, value)
    return result


def merged(section: Mapping[str, Any], changes: Mapping[str, Any]) -> dict[str, Any]:
    """Return the section with the changes: mappings are merged key by key, other values replaced."""
    result = _opened(section)
    for key, value in changes.items():
        now = result.get(key)
        both = isinstance(value, Mapping) and isinstance(now, Mapping | str)
        result[key] = merged(_opened(now), value) if both else copy.deepcopy(value)
    return result


def _set(section: dict[str, Any], location: tuple[Key, ...], value: Any) -> None:
    *above, last = location
    at: Any = section
    for key in above:
        if isinstance(key, int):
            at = at[key]
            continue
        if not isinstance(at.get(key), list):
            at[key] = _opened(at.get(key))
        at = at[key]
    at[last] = value


def _opened(section: Any) -> dict[str, Any]:
    """Return a section as a mapping. A word is its type, but the trainer section `ludwig` is Ludwig's defaults."""
    if isinstance(section, str):
        return {"validation_metric": None} if section == "ludwig" else {"type": section}
    return dict(section) if isinstance(section, Mapping) else {}
