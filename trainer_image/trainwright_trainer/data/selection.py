"""Choose the columns that a config reads, and refuse the preprocessing options that this version lacks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from trainwright_api.config.encoders.timm import AnyTimmEncoder
from trainwright_trainer.data.rows import IMAGE_BLOCK_ROWS
from trainwright_trainer.errors import not_built
from trainwright_trainer.features.column import Decoder, Feature, Points
from trainwright_trainer.features.registry import feature_type
from trainwright_trainer.features.timm_models import timm_model

_UNBUILT = ("global_max_sequence_length",)
CODED = ("category", "binary")
"""Types that use distinct values only. Their columns are read fastest as dictionaries."""


def features_of(config: Any, *, targets: bool = True, decoder: Decoder = "torchvision") -> list[Feature]:
    """The features of a resolved config, inputs first. Raises `Mistakes` for what this version lacks."""
    sections = [("input_features", config.input_features, False)]
    if targets:
        sections.append(("output_features", config.output_features, True))
    features = [
        _feature(item, is_target, f"config.{section}[{position}]", decoder)
        for section, items, is_target in sections
        for position, item in enumerate(items)
    ]
    for feature in features:
        feature_type(feature.type, feature.path).refuse(feature)
    return features


def _feature(item: Any, is_target: bool, path: str, decoder: Decoder) -> Feature:
    feature_type(item.type, path)
    column = item.column or item.name
    is_served = decoder == "pillow"  # its statistics have the size, and there is no torch
    preprocessing = item.preprocessing if is_target or is_served else _preprocessing(item, f"{path}.encoder")
    is_shares = is_target and item.type == "vector" and item.loss.type == "softmax_cross_entropy"
    return Feature(item.name, column, item.type, is_target, preprocessing, path, decoder=decoder, is_shares=is_shares)


def _preprocessing(item: Any, path: str) -> Any:
    """The preprocessing of an input. An image takes the size of its pretrained weights, unless the file gives one."""
    section, encoder = item.preprocessing, item.encoder
    if not isinstance(encoder, AnyTimmEncoder) or not encoder.use_pretrained:
        return section
    if section.height is not None or section.width is not None:
        return section
    height, width = timm_model(encoder.model_name, path).size
    return section.model_copy(update={"height": height, "width": width})


def with_meaning_of_points(features: Sequence[Feature], points: Mapping[str, Points]) -> list[Feature]:
    """The features, with what a point separates in the texts of their columns."""
    return [replace(feature, points=points.get(feature.column, feature.points)) for feature in features]


def refuse_unbuilt_preprocessing(preprocessing: Any) -> None:
    """Raise `Mistakes` for sampling options that the API accepts but this version lacks."""
    for option in _UNBUILT:
        if getattr(preprocessing, option) is not None:
            raise not_built(f"config.preprocessing.{option}", str(getattr(preprocessing, option)), "none")


def wanted_columns(features: list[Feature], preprocessing: Any | None) -> list[tuple[str, str]]:
    """Pairs of a path in the config and the column that it names, including the column of the split if there is one."""
    wanted = [(f"{feature.path}.column", feature.column) for feature in features]
    column = getattr(preprocessing.split, "column", None) if preprocessing is not None else None
    return [*wanted, ("config.preprocessing.split.column", column)] if column is not None else wanted


def coded_columns(features: list[Feature], preprocessing: Any | None) -> list[str]:
    """The columns that are needed only as dictionaries. A column of dates is not one of them."""
    coded = {column for _, column in wanted_columns(features, preprocessing)}
    whole = {feature.column for feature in features if feature.type not in CODED}
    if preprocessing is not None and preprocessing.split.type == "datetime":
        whole.add(preprocessing.split.column)
    return sorted(coded - whole)


def block_rows(features: Sequence[Feature]) -> int | None:
    """The rows of a block of the data set; None: the usual number."""
    return IMAGE_BLOCK_ROWS if any(feature.type == "image" for feature in features) else None
