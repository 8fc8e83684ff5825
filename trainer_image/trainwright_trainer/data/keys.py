"""The keys of the cache: what an entry depends on, and nothing else."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import Any

from trainwright_trainer.features.column import Feature

FORMAT = 2
"""Raised whenever an entry would be computed or written differently; older entries are then never found."""


def digest(value: Any) -> str:
    """sha256 of plain JSON values, in one spelling."""
    text = json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False)
    return hashlib.sha256(text.encode()).hexdigest()


def split_key(content: str, preprocessing: Any, seed: int) -> str:
    """Of the parts of all rows: content, split section, sampling and seed."""
    section = preprocessing.split.model_dump(mode="json")
    sampling = [preprocessing.sample_ratio, preprocessing.sample_size]
    return digest(["split", FORMAT, content, section, sampling, seed])


def statistics_key(of_split: str, feature: Feature) -> str:
    """Of one feature's statistics: the training rows and how the column is read."""
    return digest(["statistics", FORMAT, of_split, *_reading(feature)])


def feature_key(content: str, feature: Feature, statistics: Mapping[str, Any]) -> str:
    """Of one encoded column: split and seed act only through the statistics."""
    return digest(["feature", FORMAT, content, *_reading(feature), digest(statistics)])


def _reading(feature: Feature) -> list[Any]:
    options = feature.preprocessing.model_dump(mode="json")
    return [feature.column, feature.type, feature.is_target, options]
