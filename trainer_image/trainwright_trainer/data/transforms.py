"""The functions that a processor maps over blocks: clean, then observe and encode all features of a block together.

They are pure, can be pickled, and do not access files. Their results are merged in the order of the blocks, so the
result of preprocessing is the same, bit for bit, with every processor.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

import pyarrow as pa

from trainwright_api.problems import Problem
from trainwright_trainer.data.prepared import TRAIN
from trainwright_trainer.data.row_split import Split
from trainwright_trainer.data.rows import Block
from trainwright_trainer.data.split import Parts
from trainwright_trainer.features.column import Cleaned, Encoded, Feature, Mask, Statistics
from trainwright_trainer.features.errors import BadValueError, WrongTypeError
from trainwright_trainer.features.registry import feature_type
from trainwright_trainer.features.texts import check_encoding, without_bytes

Done = TypeVar("Done")


@dataclass(frozen=True)
class Failed:
    """The first mistake of a feature in a block."""

    problem: Problem


def tried(feature: Feature, work: Callable[[], Done]) -> Done | Failed:
    """The result of `work`, or the mistake that the column contains."""
    try:
        return work()
    except BadValueError as error:
        message = error.message.format(row=f"{error.row + 1:,}", value=_shown(error.value))
    except WrongTypeError as error:
        message = str(error)
    return Failed(Problem(feature.path, f"column {feature.column!r} {message}"))


def _shown(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 60 else text[:59] + "…"


@dataclass(frozen=True)
class CleanBlock:
    """A block in the types of its features, by feature name. `split`: the raw column of the split, if one is needed."""

    first_row: int
    rows: int
    columns: Mapping[str, Cleaned | Failed]
    split: pa.Array | None

    @property
    def nbytes(self) -> int:
        columns = [column.values for column in self.columns.values() if isinstance(column, Cleaned)]
        return sum(values.nbytes for values in (*columns, *([] if self.split is None else [self.split])))


@dataclass(frozen=True)
class Clean:
    """Reads each column of a block as the type of its feature. `split` is the column of the split, or None."""

    features: tuple[Feature, ...]
    split: str | None = None

    def __call__(self, block: Block) -> CleanBlock:
        columns = {feature.name: cleaned(feature, block) for feature in self.features}
        return CleanBlock(block.first_row, block.rows, columns, block.columns[self.split] if self.split else None)


def cleaned(feature: Feature, block: Block) -> Cleaned | Failed:
    """The column of the feature, or its first mistake."""

    def work() -> Cleaned:
        values = block.columns[feature.column]
        if feature.type == "image":
            check_encoding(values)
        else:
            values = without_bytes(values)
        return feature_type(feature.type, feature.path).clean(feature, values, block.first_row)

    return tried(feature, work)


@dataclass(frozen=True)
class Work:
    """The work of one pass on one feature. `so_far`: the statistics of the rounds so far; `statistics`: of `encode`."""

    feature: Feature
    so_far: Statistics
    statistics: Statistics
    observes: bool
    encodes: bool


@dataclass(frozen=True)
class Worked:
    """The result of `Work` on one block: the state of a round, the encoded block; both are None if not wanted."""

    state: Any
    encoded: Encoded | None
    unreadable: int
    noted: Mapping[str, int]


@dataclass(frozen=True)
class Pass:
    """Does the work of one pass on a block. `split` gives the parts of the block's rows."""

    works: tuple[Work, ...]
    split: Split

    def __call__(self, block: CleanBlock) -> PassedBlock:
        parts = self.split.of(block.first_row, block.rows, block.split)
        training: Mask = parts == TRAIN
        works = {work.feature.name: _worked(work, block, training) for work in self.works}
        return PassedBlock(parts, works)


@dataclass(frozen=True)
class PassedBlock:
    """The parts of the block's rows (uint8 [rows]), and the results by feature name."""

    parts: Parts
    works: Mapping[str, Worked | Failed]


def _worked(work: Work, block: CleanBlock, training: Mask) -> Worked | Failed:
    feature, cleaned = work.feature, block.columns[work.feature.name]
    if isinstance(cleaned, Failed):
        return cleaned
    module, values = feature_type(feature.type, feature.path), cleaned.values

    def both() -> Worked:
        state = encoded = None
        if work.observes:
            state = module.observe(feature, values.filter(pa.array(training)), work.so_far)
        if work.encodes:
            encoded = module.encode(feature, values, work.statistics, block.first_row)
        noted = cleaned.noted if encoded is None else {**cleaned.noted, **encoded.noted}
        return Worked(state, encoded, cleaned.unreadable, noted)

    return tried(feature, both)
