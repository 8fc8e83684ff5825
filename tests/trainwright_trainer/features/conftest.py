"""Run one column through both passes, in blocks of any size. The tests of all feature types use it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from trainwright_api.config import preprocessing as sections
from trainwright_trainer.data import transforms
from trainwright_trainer.features.column import Feature
from trainwright_trainer.features.registry import FEATURES
from trainwright_trainer.frames.pandas import PandasProcessor


@dataclass
class Passed:
    """The result as plain Python values, with None for null."""

    values: list[Any]
    statistics: dict[str, Any]
    notices: tuple[str, ...]
    type: pa.DataType


@pytest.fixture
def feature():
    """A feature called x of the given type, with the given preprocessing options."""

    def make(kind: str, is_target: bool = False, **options: Any) -> Feature:
        section = getattr(sections, f"{kind.title()}{'Output' if is_target and kind != 'date' else ''}Preprocessing")
        made = section.model_validate(options)
        found = Feature("x", "x", kind, is_target, made, "config.input_features[0]")
        FEATURES[kind].refuse(found)
        return found

    return make


@pytest.fixture
def run(feature):
    """Run both passes over `values` in blocks of `block` rows. `training` marks the training rows (default: all)."""

    def through(kind: str, values: Any, *, training: Any = None, block: int = 3, target: bool = False, **options: Any):
        made = feature(kind, target, **options)
        array = values if isinstance(values, pa.Array) else pa.array(values)
        starts = list(range(0, len(array), block))
        raw = transforms.RawColumn([array.slice(start, block) for start in starts], starts)
        mask = np.ones(len(array), np.bool_) if training is None else np.array(training, np.bool_)
        processor = PandasProcessor(2)
        column = transforms.clean(made, raw, processor)
        masks = [mask[start : start + block] for start in starts]
        statistics = transforms.statistics_of(made, column, masks, processor)
        encoded = transforms.encode(made, column, statistics, processor)
        return Passed(encoded.values.to_pylist(), dict(statistics), encoded.notices, encoded.values.type)

    return through
