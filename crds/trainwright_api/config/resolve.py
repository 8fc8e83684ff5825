"""The config that a run trains with: `defaults` merged into the features, every default filled in."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from trainwright_api.config.features import InputFeature
from trainwright_api.config.merge import OF_INPUTS, OF_OUTPUTS, merged
from trainwright_api.config.model import ModelConfig
from trainwright_api.schema.section import Section, without_relations


def resolve(config: ModelConfig) -> ModelConfig:
    """The config with its `defaults` merged into each feature and every field given; `defaults` itself is then null.

    Pure, and the same for a config that is resolved already. Layers take what they leave open from their stack.
    """
    given = config.model_dump(exclude_unset=True)
    given["defaults"] = None
    given["input_features"] = merged(config.input_features, config.defaults, OF_INPUTS)
    given["output_features"] = merged(config.output_features, config.defaults, OF_OUTPUTS)
    for feature in [*given["input_features"], *given["output_features"]]:
        feature["column"] = feature.get("column") or feature["name"]
    found = ModelConfig.model_validate(given)
    for written, feature in zip(given["input_features"], found.input_features, strict=True):
        _take_tokenizer(written, feature)
        _take_image_size(written, feature)
    for written, output in zip(given["output_features"], found.output_features, strict=True):
        if output.decoder.type == "tagger":
            written["reduce_input"] = None  # a tagger takes each step
    return ModelConfig.model_validate(_filled(ModelConfig.model_validate(given)))


def stored_config(value: Mapping[str, Any]) -> ModelConfig:
    """The resolved config of a trained model, whose options fitted together when it was trained."""
    with without_relations():
        return ModelConfig.model_validate(value)


def _take_tokenizer(written: dict[str, Any], feature: InputFeature) -> None:
    """Give a text with a pretrained encoder the tokenizer of the same model, unless the file names a tokenizer."""
    name = getattr(feature.encoder, "pretrained_model_name_or_path", None)
    if name is not None and "tokenizer" not in feature.preprocessing.model_fields_set:
        own = getattr(feature.preprocessing, "pretrained_model_name_or_path", None) or name
        section = {"tokenizer": "hf_tokenizer", "pretrained_model_name_or_path": own}
        written["preprocessing"] = {**feature.preprocessing.model_dump(exclude_unset=True), **section}


def _take_image_size(written: dict[str, Any], feature: InputFeature) -> None:
    """Give an image with an encoder of torchvision what the encoder needs, unless the file says otherwise."""
    own_preprocessing = getattr(feature.encoder, "own_preprocessing", None)
    if own_preprocessing is not None:
        given = feature.preprocessing.model_dump(exclude_unset=True)
        given = {name: value for name, value in given.items() if value is not None}
        own = own_preprocessing()
        if "height" in given or "width" in given:
            own = {name: value for name, value in own.items() if name not in ("height", "width")}
        written["preprocessing"] = {**own, **given}


def _filled(value: Any) -> Any:
    """The value with every field of its sections given."""
    if isinstance(value, list):
        return [_filled(item) for item in value]
    if isinstance(value, dict):
        return {key: _filled(item) for key, item in value.items()}
    if not isinstance(value, Section):
        return value
    filled = {name: _filled(getattr(value, name)) for name in type(value).model_fields}
    layers = getattr(value, "fc_layers", None)
    if layers is not None:
        filled["fc_layers"] = [_layer(layer, filled, "fc_") for layer in layers]
        filled["num_fc_layers" if "num_fc_layers" in filled else "num_layers"] = len(layers)
    layers = getattr(value, "conv_layers", None)
    if layers is not None:
        filled["conv_layers"] = [_layer(layer, filled, "conv_") for layer in layers]
        filled["num_conv_layers"] = len(layers)
    layers = getattr(value, "stacked_layers", None)
    if layers is not None:
        filled["stacked_layers"] = [[_layer(layer, filled, "conv_") for layer in parallel] for parallel in layers]
        filled["num_stacked_layers"] = len(layers)
    return filled


def _layer(layer: Section, stack: Mapping[str, Any], prefix: str) -> dict[str, Any]:
    """The layer with what it leaves open taken from its stack, where some fields have a prefix."""
    filled: dict[str, Any] = {}
    for name in type(layer).model_fields:
        own = name in layer.model_fields_set
        filled[name] = _filled(getattr(layer, name)) if own else stack.get(f"{prefix}{name}", stack.get(name))
    return filled
