"""The config that a run trains with: `defaults` merged into the features, every default filled in."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from trainwright_api.config.feature import Feature
from trainwright_api.config.layers import FullyConnectedLayer
from trainwright_api.config.model import ModelConfig
from trainwright_api.section import Section

_OF_INPUTS = ("preprocessing", "encoder", "augmentation")
_OF_OUTPUTS = ("preprocessing", "decoder", "loss")


def resolve(config: ModelConfig) -> ModelConfig:
    """The config with its `defaults` merged into each feature and every field given; `defaults` itself is then empty.

    Pure, and the same for a config that is resolved already. Raises pydantic's ValidationError where a default does not
    fit a feature's own fields.
    """
    given = config.model_dump(exclude_unset=True)
    given.pop("defaults", None)
    given["input_features"] = [_merged(feature, config, _OF_INPUTS) for feature in config.input_features]
    given["output_features"] = [_merged(feature, config, _OF_OUTPUTS) for feature in config.output_features]
    merged = ModelConfig.model_validate(given)
    filled = {name: _filled(getattr(merged, name)) for name in ModelConfig.model_fields if name != "defaults"}
    return ModelConfig.model_validate(filled)


def _merged(feature: Feature, config: ModelConfig, keys: tuple[str, ...]) -> dict[str, Any]:
    """The feature as given, with what `defaults` gives for its type, and its column."""
    own = feature.model_dump(exclude_unset=True)
    defaults = getattr(config.defaults, getattr(feature, "type"), None)  # noqa: B009
    for key in keys:
        if isinstance(defaults, Section) and key in defaults.model_fields_set:
            own[key] = _under(getattr(defaults, key), getattr(feature, key), key in own)
    return {**own, "column": feature.column or feature.name}


def _under(default: Any, own: Any, given: bool) -> Any:
    """The default's fields under the own ones, as far as both are of one type."""
    if not isinstance(own, Section) or not isinstance(default, Section):
        return own if given else default
    below, above = _with_type(default), own.model_dump(exclude_unset=True) if given else {}
    if given and _type(own) != _type(default):
        return above
    if not given and _type(default) is not None:
        return below
    known = type(own).known_keys()
    return {**{name: value for name, value in below.items() if name in known}, **above}


def _with_type(section: Section) -> dict[str, Any]:
    given = section.model_dump(exclude_unset=True)
    kind = _type(section)
    return given if kind is None else {"type": kind, **given}


def _type(section: Section) -> str | None:
    """The word by which the section's class was chosen; None for sections that have one class only."""
    field = type(section).model_fields.get("type")
    return None if field is None else str(getattr(section, "type"))  # noqa: B009


def _filled(value: Any) -> Any:
    """The value with every field of its sections given."""
    if isinstance(value, list):
        return [_filled(item) for item in value]
    if not isinstance(value, Section):
        return value
    filled = {name: _filled(getattr(value, name)) for name in type(value).model_fields}
    layers = getattr(value, "fc_layers", None)
    if layers:
        filled["fc_layers"] = [_layer(layer, filled) for layer in layers]
    return filled


def _layer(layer: FullyConnectedLayer, stack: Mapping[str, Any]) -> dict[str, Any]:
    """The layer with what it leaves open taken from its stack, whose fields begin with fc_ in a decoder."""
    filled: dict[str, Any] = {}
    for name in FullyConnectedLayer.model_fields:
        own = name in layer.model_fields_set
        filled[name] = _filled(getattr(layer, name)) if own else stack.get(f"fc_{name}", stack.get(name))
    return filled
