"""The number of logits of an output for a row, or for a step of a sequence."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from trainwright_api.config.features import OutputFeature


def width_of(feature: OutputFeature, statistics: Mapping[str, Any]) -> int:
    """A generator has one more than there are tokens: the last one is the end of the sequence."""
    if "vocabulary" in statistics:
        return len(statistics["vocabulary"]) + int(feature.decoder.type == "generator")
    return int(statistics["size"]) if feature.type == "vector" else 1
