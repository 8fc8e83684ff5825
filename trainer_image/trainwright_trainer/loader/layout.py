"""Assign each feature its columns in a batch: inputs in the order of the config, then targets."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from trainwright_api.config import ModelConfig
from trainwright_trainer.features.pixels import image_shape
from trainwright_trainer.loader.batch import ColumnRange, ImageColumn, Layout

DATE_PARTS = 9
EMBEDDING = "embedding"
"""The key in the statistics of an input whose column holds the embeddings of its encoder: their width, the most steps
of a row (None for vectors), and the key of the column in the cache."""
RAGGED = ("set", "bag", "sequence", "text")


def layout_of(config: ModelConfig, statistics: Mapping[str, Mapping[str, Any]]) -> Layout:
    """The layout of a resolved config. `statistics[feature]` are the statistics of preprocessing.

    A number and a binary have one float column; a vector has as many as it has values. A category has one int column;
    a date has nine. A set, a bag, a sequence and a text have one ragged column, an image has a column of images.
    Features that are adjacent in the config and share a tensor are adjacent in the tensor. An input with cached
    embeddings has their columns.
    """
    columns: dict[str, ColumnRange] = {}
    filled = {"floats": 0, "ints": 0, "ragged": 0, "images": 0}
    for feature in (*config.input_features, *config.output_features):
        kind, width = _columns(feature.type, statistics[feature.name])
        start = filled[kind]
        filled[kind] = start + width
        columns[feature.name] = ColumnRange(kind, start, start + width)
    features = [feature for feature in config.input_features if feature.type == "image"]
    images = tuple(
        _image_column(feature, statistics[feature.name], position)
        for position, feature in enumerate(features)
        if columns[feature.name].kind == "images"
    )
    return Layout(columns, filled["floats"], filled["ints"], images)


def _image_column(feature: Any, statistics: Mapping[str, Any], position: int) -> ImageColumn:
    section = feature.preprocessing
    return ImageColumn(image_shape(section, statistics), tuple(feature.augmentation), section.num_processes, position)


def image_size(statistics: Mapping[str, Any]) -> tuple[int, int, int]:
    """Channels, height and width of the images of a feature."""
    return statistics["channels"], statistics["height"], statistics["width"]


def _columns(type_: str, statistics: Mapping[str, Any]) -> tuple[Literal["floats", "ints", "ragged", "images"], int]:
    """The kind of column of a feature of this type, and the feature's number of such columns."""
    if EMBEDDING in statistics:
        return "floats", statistics[EMBEDDING]["width"]
    if type_ == "category":
        return "ints", 1
    if type_ == "date":
        return "ints", DATE_PARTS
    if type_ in RAGGED:
        return "ragged", 1
    if type_ == "image":
        return "images", 1
    return "floats", statistics["size"] if type_ == "vector" else 1
