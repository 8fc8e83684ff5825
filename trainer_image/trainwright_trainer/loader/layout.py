"""Where each feature stands in a batch: inputs in the order of the config, then targets."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from trainwright_api.config import ModelConfig
from trainwright_trainer.loader.batch import ColumnRange, Layout

DATE_PARTS = 9


def layout_of(config: ModelConfig, statistics: Mapping[str, Mapping[str, Any]]) -> Layout:
    """The layout of a resolved config. `statistics[feature]` are those of preprocessing.

    A number and a binary have one column of floats, a vector as many as it has values; a category has one column of
    ints, a date nine. Features of one tensor stand next to each other there when they do so in the config.
    """
    columns: dict[str, ColumnRange] = {}
    filled = {"floats": 0, "ints": 0}
    for feature in (*config.input_features, *config.output_features):
        tensor, width = _columns(feature.type, statistics[feature.name])
        start = filled[tensor]
        filled[tensor] = start + width
        columns[feature.name] = ColumnRange(tensor, start, start + width)
    return Layout(columns, filled["floats"], filled["ints"])


def _columns(type_: str, statistics: Mapping[str, Any]) -> tuple[Literal["floats", "ints"], int]:
    """Which tensor holds a feature of this type, and how many columns of it."""
    if type_ == "category":
        return "ints", 1
    if type_ == "date":
        return "ints", DATE_PARTS
    return "floats", statistics["size"] if type_ == "vector" else 1
