"""The relation of a column to the target: a copy of it, a straight line of it, or a number that a threshold turns into
it.

A model with such a column learns nothing else, and in use the column is usually not known before the target.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from trainwright_trainer.suggest.distinct import MOST_VALUES

Floats = npt.NDArray[np.float64]
_FEWEST_ROWS = 20
"""With fewer rows that have both values, a relation to the target may be chance."""
_FEWEST_OF_A_CLASS = 5
"""With fewer rows of one class, a threshold may be chance: one row of 20 is an extreme in a tenth of all columns."""
_MOST_CLASSES = 10
_LINE = 1e-9
"""The largest part of the variance of the target that a copy may leave unexplained."""


@dataclass(frozen=True)
class TargetBlock:
    """The target in one block. `codes` [rows]: numbers of `labels`, -1 if missing; `numbers` [rows], if it has them."""

    labels: Sequence[Any]
    codes: npt.NDArray[np.int64]
    numbers: Floats | None


@dataclass(frozen=True)
class RelationBlock:
    """`rows`: those that have both values. `pairs`: the values of target and column, None if they are not one to one in
    this block. `ranges`: the least and the largest number of each class, and its rows. `line`: rows, means, and sums of
    squares and products.
    """

    rows: int
    pairs: Mapping[Any, Any] | None
    ranges: Mapping[Any, tuple[float, float, int]]
    line: tuple[int, float, float, float, float, float] | None


def target_block(values: pa.Array, numbers: Floats | None) -> TargetBlock:
    coded = values if pa.types.is_dictionary(values.type) else pc.dictionary_encode(values)
    codes = coded.indices.fill_null(-1).to_numpy(zero_copy_only=False).astype(np.int64)
    return TargetBlock(coded.dictionary.to_pylist(), codes, numbers)


def relation_block(target: TargetBlock, values: pa.Array, numbers: Floats | None) -> RelationBlock:
    ranges = {} if numbers is None or len(target.labels) > _MOST_CLASSES else _ranges(target, numbers)
    line = None if numbers is None or target.numbers is None else _line(numbers, target.numbers)
    rows = int(np.count_nonzero((target.codes >= 0) & values.is_valid().to_numpy(zero_copy_only=False)))
    return RelationBlock(rows, _pairs(target, values), ranges, line)


def _pairs(target: TargetBlock, values: pa.Array) -> Mapping[Any, Any] | None:
    if pa.types.is_nested(values.type) or len(target.labels) > MOST_VALUES:
        return None
    coded = values if pa.types.is_dictionary(values.type) else pc.dictionary_encode(values)
    if len(coded.dictionary) > MOST_VALUES:
        return None
    codes = coded.indices.fill_null(-1).to_numpy(zero_copy_only=False).astype(np.int64)
    both = (codes >= 0) & (target.codes >= 0)
    width = max(len(coded.dictionary), 1)
    found = np.unique(target.codes[both] * width + codes[both])
    ours, theirs = found // width, found % width
    if len(np.unique(ours)) != len(found) or len(np.unique(theirs)) != len(found):
        return None
    texts = coded.dictionary.to_pylist()
    return {target.labels[one]: texts[other] for one, other in zip(ours.tolist(), theirs.tolist(), strict=True)}


def _ranges(target: TargetBlock, numbers: Floats) -> Mapping[Any, tuple[float, float, int]]:
    found = {}
    for code, label in enumerate(target.labels):
        of_class = numbers[(target.codes == code) & ~np.isnan(numbers)]
        if len(of_class):
            found[label] = (float(of_class.min()), float(of_class.max()), len(of_class))
    return found


def _line(x: Floats, y: Floats) -> tuple[int, float, float, float, float, float]:
    both = ~(np.isnan(x) | np.isnan(y))
    x, y = x[both], y[both]
    if not len(x):
        return 0, 0.0, 0.0, 0.0, 0.0, 0.0
    mean_x, mean_y = float(x.mean()), float(y.mean())
    x, y = x - mean_x, y - mean_y
    return len(x), mean_x, mean_y, float(x @ x), float(y @ y), float(x @ y)


@dataclass
class Relation:
    """The relation over all blocks."""

    rows: int = 0
    pairs: dict[Any, Any] | None = field(default_factory=dict)
    ranges: dict[Any, tuple[float, float, int]] = field(default_factory=dict)
    line: tuple[int, float, float, float, float, float] | None = (0, 0.0, 0.0, 0.0, 0.0, 0.0)

    def add(self, block: RelationBlock) -> None:
        self.rows += block.rows
        if self.pairs is not None:
            self.pairs = _one_to_one(self.pairs, block.pairs)
        for label, (least, most, rows) in block.ranges.items():
            low, high, before = self.ranges.get(label, (least, most, 0))
            self.ranges[label] = (min(low, least), max(high, most), before + rows)
        self.line = None if self.line is None or block.line is None else _both_lines(self.line, block.line)

    @property
    def found(self) -> str:
        """The relation as the end of a sentence about the column; empty if there is none."""
        if self.rows < _FEWEST_ROWS:
            return ""
        if self.pairs is not None and len(self.pairs) > 1 and self.rows >= 5 * len(self.pairs):
            return "a copy of the target: each value of one goes with one value of the other"
        if self._is_line:
            return "a copy of the target: they lie on a straight line"
        if self._is_threshold:
            return "the target is a threshold of it"
        return ""

    @property
    def _is_line(self) -> bool:
        if self.line is None or self.line[0] < _FEWEST_ROWS:
            return False
        _, _, _, xx, yy, xy = self.line
        return xx > 0 and yy > 0 and 1 - xy * xy / (xx * yy) < _LINE

    @property
    def _is_threshold(self) -> bool:
        if len(self.ranges) != 2:
            return False
        (low, high, ours), (least, most, theirs) = self.ranges.values()
        return min(ours, theirs) >= _FEWEST_OF_A_CLASS and (high < least or most < low)


def _one_to_one(so_far: dict[Any, Any], block: Mapping[Any, Any] | None) -> dict[Any, Any] | None:
    if block is None or any(so_far.get(one, other) != other for one, other in block.items()):
        return None
    joined = {**so_far, **block}
    return joined if len(set(joined.values())) == len(joined) <= MOST_VALUES else None


def _both_lines(one: Sequence[float], other: Sequence[float]) -> tuple[int, float, float, float, float, float]:
    """The sums of two blocks about their common means (Chan, Golub and LeVeque 1979)."""
    n, m = one[0], other[0]
    if not n or not m:
        kept = one if n else other
        return int(kept[0]), kept[1], kept[2], kept[3], kept[4], kept[5]
    dx, dy, share = other[1] - one[1], other[2] - one[2], m / (n + m)
    weight = n * share
    return (
        int(n + m),
        one[1] + dx * share,
        one[2] + dy * share,
        one[3] + other[3] + dx * dx * weight,
        one[4] + other[4] + dy * dy * weight,
        one[5] + other[5] + dx * dy * weight,
    )
