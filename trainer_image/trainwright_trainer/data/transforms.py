"""The two passes over a column: statistics of the training rows, then encoding. This module does not access files.

Both passes map pure functions over blocks of 65,536 rows and merge the results in the order of the blocks. So the
result is the same, bit for bit, with every processor.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from trainwright_api.problems import Mistakes
from trainwright_trainer.data.columnfile import Column
from trainwright_trainer.data.rows import Block
from trainwright_trainer.features.column import Cleaned, Encoded, Feature, Mask, Statistics
from trainwright_trainer.features.errors import BadValueError, WrongTypeError, check_encoding
from trainwright_trainer.features.missing import fill_from_neighbours
from trainwright_trainer.features.registry import feature_type
from trainwright_trainer.frames.interface import Processor


@dataclass(frozen=True)
class RawColumn:
    """One column of the source, block by block; `first_rows` are the blocks' first row numbers."""

    blocks: Sequence[pa.Array]
    first_rows: Sequence[int]


class Raw:
    """All rows of some columns. `uses` contains a column's name once for each later `take` of it."""

    def __init__(self, blocks: Iterable[Block], uses: Iterable[str]) -> None:
        self._uses = list(uses)
        self._columns: dict[str, list[pa.Array]] = {}
        self.first_rows: list[int] = []
        self.sizes: list[int] = []
        for block in blocks:
            self.first_rows.append(block.first_row)
            self.sizes.append(block.rows)
            for name, values in block.columns.items():
                self._columns.setdefault(name, []).append(values)

    @property
    def rows(self) -> int:
        return sum(self.sizes)

    def take(self, name: str) -> RawColumn:
        """The column. Its last use removes it."""
        self._uses.remove(name)
        found = self._columns[name] if name in self._uses else self._columns.pop(name)
        return RawColumn(found, self.first_rows)


@dataclass(frozen=True)
class CleanColumn:
    """The column in its feature's own type."""

    blocks: Sequence[Cleaned]
    first_rows: Sequence[int]

    @property
    def unreadable(self) -> int:
        return sum(block.unreadable for block in self.blocks)


@contextmanager
def raising_mistakes(feature: Feature) -> Iterator[None]:
    """Turn errors of a column into `Mistakes` for the user."""
    try:
        yield
    except BadValueError as error:
        message = error.message.format(row=f"{error.row + 1:,}", value=_shown(error.value))
        raise Mistakes.one(feature.path, f"column {feature.column!r} {message}") from error
    except WrongTypeError as error:
        raise Mistakes.one(feature.path, f"column {feature.column!r} {error}") from error


def _shown(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 60 else text[:59] + "…"


def clean(feature: Feature, raw: RawColumn, processor: Processor) -> CleanColumn:
    """Read the column as the type of its feature. Raises `Mistakes` that name the first row that cannot be read."""
    module = feature_type(feature.type, feature.path)

    def one(block: tuple[pa.Array, int]) -> Cleaned:
        values, first_row = block
        check_encoding(values)
        return module.clean(feature, values, first_row)

    with raising_mistakes(feature):
        pairs = zip(raw.blocks, raw.first_rows, strict=True)
        return CleanColumn(list(processor.map_blocks(one, pairs)), raw.first_rows)


def statistics_of(feature: Feature, column: CleanColumn, training: Sequence[Mask], processor: Processor) -> Statistics:
    """The statistics of the rows that `training`, one mask for each block, selects. Raises `Mistakes`."""
    module = feature_type(feature.type, feature.path)
    found: Statistics = {}

    def chosen(block: tuple[Cleaned, Mask]) -> pa.Array:
        cleaned, mask = block
        return cleaned.values.filter(pa.array(mask))

    def observed(values: pa.Array) -> Any:
        return module.observe(feature, values, found)

    rows = list(processor.map_blocks(chosen, zip(column.blocks, training, strict=True)))
    with raising_mistakes(feature):
        for _ in range(module.rounds(feature)):
            found = module.conclude(feature, list(processor.map_blocks(observed, rows)), found)
    return found


def encode(feature: Feature, column: CleanColumn, statistics: Statistics, processor: Processor) -> Column:
    """The encoded column with its notices. Raises `Mistakes`."""
    module = feature_type(feature.type, feature.path)

    def one(block: tuple[Cleaned, int]) -> Encoded:
        return module.encode(feature, block[0].values, statistics, block[1])

    with raising_mistakes(feature):
        encoded = list(processor.map_blocks(one, zip(column.blocks, column.first_rows, strict=True)))
    values = _filled(encoded)
    unseen = sum(block.unseen for block in encoded)
    unread = column.unreadable + sum(block.unknown for block in encoded)
    lines = [*module.notices(feature, statistics), *_notices(feature, unread, unseen, values.null_count)]
    return Column(values, tuple(lines))


def _filled(encoded: Sequence[Encoded]) -> pa.ChunkedArray:
    values = pa.chunked_array([block.values for block in encoded])
    forward, backward = _joined(encoded, "forward"), _joined(encoded, "backward")
    if forward is None and backward is None:
        return values
    whole = values.combine_chunks()
    whole = whole.chunk(0) if isinstance(whole, pa.ChunkedArray) else whole
    return pa.chunked_array([fill_from_neighbours(whole, forward, backward)])


def _joined(encoded: Sequence[Encoded], side: str) -> Mask | None:
    """The mask of the whole column; None if no block has one."""
    masks: list[Mask | None] = [getattr(block, side) for block in encoded]
    if all(mask is None for mask in masks):
        return None
    pairs = zip(masks, encoded, strict=True)
    return np.concatenate([np.zeros(len(block.values), np.bool_) if mask is None else mask for mask, block in pairs])


def _notices(feature: Feature, unreadable: int, unseen: int, dropped: int) -> Iterator[str]:
    """The notices of a column. They count all rows of the source, in every part."""
    column = feature.column
    if unreadable:
        yield f"column {column!r}: values that are no {feature.type}: {unreadable:,}; they count as missing"
    if unseen:
        yield f"column {column!r}: values that no training row has: {unseen:,}; their rows are left out"
    if dropped > unseen:
        yield f"column {column!r}: rows left out by drop_row: {dropped - unseen:,}"
