"""Run one column through both passes, in blocks of any size. The tests of all feature types use it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from trainwright_api.config import preprocessing as sections
from trainwright_api.problems import Mistakes
from trainwright_trainer.data.encoded import EncodedColumn
from trainwright_trainer.data.passes import Progress
from trainwright_trainer.data.prepared import TEST, TRAIN
from trainwright_trainer.data.row_split import KnownSplit
from trainwright_trainer.data.rows import Block
from trainwright_trainer.data.transforms import Clean, Pass
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
        mask = np.ones(len(array), np.bool_) if training is None else np.array(training, np.bool_)
        split = KnownSplit(np.where(mask, TRAIN, TEST).astype(np.uint8))
        stage = PandasProcessor(2).stage(_Blocks(array, block), Clean((made,)))
        progress = Progress(made, lambda _, statistics: statistics)
        while progress.observes:
            for passed in stage.map(Pass((progress.work(may_encode=False),), split)):
                if not progress.failed(passed.works["x"]):
                    progress.take(passed.works["x"].state)
            _raise(progress)
            progress.conclude()
            _raise(progress)
        column = EncodedColumn(progress.work(may_encode=True))
        for passed in stage.map(Pass((progress.work(may_encode=True),), split)):
            if not progress.failed(passed.works["x"]):
                column.add(passed.works["x"])
        _raise(progress)
        column.end()
        encoded = column.in_memory()
        return Passed(encoded.values.to_pylist(), dict(progress.statistics), encoded.notices, encoded.values.type)

    return through


@dataclass(frozen=True)
class _Blocks:
    """A source of one column, in blocks of any size."""

    values: pa.Array
    rows: int

    def blocks(self):
        for start in range(0, len(self.values), self.rows):
            part = self.values.slice(start, self.rows)
            yield Block(start, len(part), {"x": part})


def _raise(progress: Progress) -> None:
    if progress.problem is not None:
        raise Mistakes([progress.problem])
