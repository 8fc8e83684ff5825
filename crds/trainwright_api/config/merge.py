"""Merges the section `defaults` into the features."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from trainwright_api.config.feature import Feature
from trainwright_api.config.tied import root_of
from trainwright_api.schema.choice import Chosen
from trainwright_api.schema.section import Section

OF_INPUTS = ("preprocessing", "encoder", "augmentation")
OF_OUTPUTS = ("preprocessing", "decoder", "loss")


def merged(features: Sequence[Feature], defaults: Section | None, keys: tuple[str, ...]) -> list[dict[str, Any]]:
    """Return the features with the defaults of their types, for the sections named by `keys`.

    A tied input without an encoder gets that of its root.
    """
    found = [_merged(feature, getattr(defaults, feature.type, None), keys) for feature in features]
    of = {feature.name: section for feature, section in zip(features, found, strict=True)}
    for feature, section in zip(features, found, strict=True):
        root = root_of(feature, features)
        if "encoder" not in feature.model_fields_set and "encoder" in of[root.name]:
            section["encoder"] = of[root.name]["encoder"]
    return found


def _merged(feature: Feature, defaults: Section | None, keys: tuple[str, ...]) -> dict[str, Any]:
    own = feature.model_dump(exclude_unset=True)
    for key in keys:
        if defaults is not None and key in defaults.model_fields_set:
            own[key] = _under(getattr(defaults, key), getattr(feature, key), own.get(key))
    return own


def _under(default: Any, section: Any, given: Any) -> Any:
    """Return the feature's values merged over the default's fields. A default of another type is ignored."""
    if not isinstance(default, Section):
        return default if given is None else given
    below = default.model_dump(exclude_unset=True)
    if isinstance(default, Chosen):
        below["type"] = default.type
        if given is None or getattr(section, "type", None) != default.type:
            return below if given is None else given
    known = type(section).known_keys()
    return {**{name: value for name, value in below.items() if name in known}, **(given or {})}
