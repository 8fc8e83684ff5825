"""Data for a trained model, encoded block by block with the statistics of its training: no split and no cache.

A few blocks are in memory at a time, so the data may be larger than the memory. No row is removed: a row that a feature
drops has a null in that feature's column. Parts of the data can be read apart, also by other processes.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np
import pyarrow as pa

from trainwright_api.problems import Mistakes, Problem
from trainwright_trainer.data import rows
from trainwright_trainer.data.columnfile import Column
from trainwright_trainer.data.datasets import DataFiles, DataTable
from trainwright_trainer.data.encoded import ColumnCounts, EncodedColumn
from trainwright_trainer.data.image_columns import with_files
from trainwright_trainer.data.missing_cells import missing_line, named
from trainwright_trainer.data.prepared import TEST, UNSAMPLED, Columns, Prepared
from trainwright_trainer.data.row_split import WholePart
from trainwright_trainer.data.rows import Block
from trainwright_trainer.data.selection import (
    block_rows,
    coded_columns,
    features_of,
    wanted_columns,
    with_meaning_of_points,
)
from trainwright_trainer.data.split import Parts
from trainwright_trainer.data.transforms import Clean, CleanBlock, Failed, Pass, PassedBlock, Work
from trainwright_trainer.features.column import Cleaned, Decoder, Feature, Points, Statistics
from trainwright_trainer.frames.interface import Divisible, Source
from trainwright_trainer.frames.pandas import in_threads

KEEP = "--keep"
"""The path, in messages, of a column that the user wants beside the predictions."""


@dataclass(frozen=True)
class EncodedBlock:
    """Consecutive rows. In `data.splits`, the rows that are asked for are in the test part, from `first_row` on.

    `number`: of the block, from 0. `kept`: the raw columns that the user wants beside the predictions. `points`: by
    column, what a point in texts separates.
    """

    number: int
    first_row: int
    data: Prepared
    kept: Mapping[str, pa.Array]
    points: Mapping[str, Points]


@dataclass
class Tally:
    """The counts of rows that were read, and their mistakes: the first one of each feature.

    By input column, `missing` counts the missing cells, `unknown` those with a category that the model does not know.
    """

    columns: dict[str, ColumnCounts]
    rows: int = 0
    missing: Counter[str] = field(default_factory=Counter)
    unknown: Counter[str] = field(default_factory=Counter)
    problems: dict[str, Problem] = field(default_factory=dict)

    def add(self, later: Tally) -> None:
        """Add the counts of rows that follow."""
        self.rows += later.rows
        self.missing.update(later.missing)
        self.unknown.update(later.unknown)
        for name, counts in later.columns.items():
            self.columns[name].add(counts)
        self.problems = {**later.problems, **self.problems}


class NewData:
    """The blocks of a data set for a model. `tally` counts what was read."""

    def __init__(
        self,
        data: DataFiles | DataTable,
        config: Any,
        statistics: Mapping[str, Statistics],
        *,
        targets: bool,
        kept: Sequence[str] = (),
        splits: Parts | None = None,
        decoder: Decoder = "torchvision",
        most_rows: int = rows.BLOCK_ROWS,
    ) -> None:
        """`targets`: encode the output features too. `splits`: the parts of all rows, of which the test part is asked
        for; None: all rows. `decoder`: of images. `most_rows`: the most rows of a block. Raises `Mistakes` for columns
        that the data lack, and `EnvironmentFailure`."""
        self.name = data.name
        self._data, self._splits = data, splits
        self._points = data.points()
        features = with_meaning_of_points(features_of(config, targets=targets, decoder=decoder), self._points)
        self._features = with_files(features, data.home, data.access)
        self._statistics = {feature.name: statistics[feature.name] for feature in self._features}
        self._works = tuple(
            Work(feature, {}, statistics[feature.name], observes=False, encodes=True) for feature in self._features
        )
        wanted = [*wanted_columns(self._features, None), *((KEEP, column) for column in kept)]
        coded = sorted(set(coded_columns(self._features, None)) - set(kept))
        self._block_rows = min(most_rows, block_rows(self._features) or rows.BLOCK_ROWS)
        self._source = data.source(wanted, coded, self._block_rows)
        clean, work = Clean(tuple(self._features)), Pass(self._works, WholePart(TEST))
        self._encode = partial(_encoded, clean, work, tuple(kept))
        self._begin()

    def _begin(self) -> None:
        self._columns = {work.feature.name: EncodedColumn(work) for work in self._works}
        self.tally = Tally({name: column.counts for name, column in self._columns.items()})

    def blocks(self) -> Iterator[EncodedBlock]:
        """All blocks, in their order. Raises `Mistakes`: the first one of each feature, or if there are no rows."""
        yield from self.read()
        self.check()

    def read(self) -> Iterator[EncodedBlock]:
        """The blocks before the first one with a mistake. Afterwards the tally has counted all blocks."""
        ready: dict[str, deque[pa.Array]] = {name: deque() for name in self._columns}
        waiting: deque[_Encoded] = deque()
        problems = self.tally.problems
        for block in in_threads(self._encode, self._source.blocks(), pa.cpu_count()):
            self._count(block)
            for name, worked in block.passed.works.items():
                if isinstance(worked, Failed):
                    problems.setdefault(name, worked.problem)
                elif not problems:
                    self._columns[name].add(worked)
                    ready[name].extend(self._columns[name].take())
            if not problems:
                waiting.append(block)
                yield from self._complete(ready, waiting)
        if not problems:
            for name, column in self._columns.items():
                column.end()
                ready[name].extend(column.take())
            yield from self._complete(ready, waiting)

    def check(self) -> None:
        """Raise `Mistakes` if the tally has mistakes, or no rows."""
        problems = self.tally.problems
        if problems:
            raise Mistakes(problems[name] for name in self._columns if name in problems)
        if not self.tally.rows:
            raise Mistakes.one("dataset", f"{self.name!r} holds no rows.")

    def watch(self) -> Callable[[], None]:
        """A function that raises `Mistakes` if a file has changed since this call."""
        return self._data.watch()

    def apart(self) -> Apart | None:
        """The data as parts that can be read apart. None if files have to be read from their start, or if a gap is
        filled from neighbouring rows. Raises the errors of the files."""
        if any(feature.fills_from_neighbours for feature in self._features):
            return None
        divisible = self._source.divisible()
        return None if divisible is None else Apart(self, divisible)

    def part(self, source: Source[Block]) -> NewData:
        """The data of some of the blocks, with a tally of their own."""
        part = copy(self)
        part._source = source
        part._begin()
        return part

    def raw(self) -> Source[Block]:
        """The raw columns of the features."""
        return self._data.source(wanted_columns(self._features, None), (), self._block_rows)

    def notices(self) -> tuple[str, ...]:
        """Lines for the user, after all blocks are read."""
        of_columns = [line for column in self._columns.values() for line in column.notices()]
        return tuple(dict.fromkeys([*self._data.notices(), *of_columns, *self._counted_cells()]))

    def _counted_cells(self) -> Iterator[str]:
        """One line with the cells for which the model has no value of the training, if there are any."""
        missing, unknown = self.tally.missing, self.tally.unknown
        found = [missing_line(missing)] if missing else []
        found += [f"categories that the model does not know: {named(unknown)}"] if unknown else []
        if found:
            yield " · ".join(found)

    def _count(self, block: _Encoded) -> None:
        self.tally.rows += len(block.passed.parts)
        self.tally.missing.update(block.missing)
        for feature in self._features:
            worked = block.passed.works[feature.name]
            if not isinstance(worked, Failed) and worked.encoded is not None and worked.encoded.unknown_categories:
                self.tally.unknown[feature.column] += worked.encoded.unknown_categories

    def _complete(self, ready: Mapping[str, deque[pa.Array]], waiting: deque[_Encoded]) -> Iterator[EncodedBlock]:
        """The blocks that all columns have by now: one that is filled from later rows waits for them."""
        while waiting and all(ready.values()):
            columns = {name: values.popleft() for name, values in ready.items()}
            block = waiting.popleft()
            first = block.first_row
            number, data = first // self._block_rows, self._prepared(columns, first)
            yield EncodedBlock(number, first, data, block.kept, self._points)

    def _prepared(self, columns: Mapping[str, pa.Array], first: int) -> Prepared:
        count = len(next(iter(columns.values())))
        wanted = np.full(count, TEST, np.uint8)
        if self._splits is not None:
            wanted[self._splits[first : first + count] != TEST] = UNSAMPLED
        return Prepared(
            dataset=self.name,
            rows=count,
            splits=wanted,
            columns=Columns({name: Column(pa.chunked_array([values])) for name, values in columns.items()}),
            statistics=self._statistics,
            content="",
            cache_key="",
            cache_hit=False,
        )


@dataclass(frozen=True)
class Apart:
    """Data as `count` blocks that can be read apart. It can be pickled."""

    data: NewData
    divisible: Divisible[Block]

    @property
    def count(self) -> int:
        return self.divisible.count

    def part(self, blocks: range) -> NewData:
        return self.data.part(self.divisible.part(blocks.start, blocks.stop))


@dataclass(frozen=True)
class _Encoded:
    """A block after its encoding, before gaps are filled from neighbours. `missing`: by input column."""

    first_row: int
    passed: PassedBlock
    kept: Mapping[str, pa.Array]
    missing: Mapping[str, int]


def _encoded(clean: Clean, work: Pass, kept: Sequence[str], block: Block) -> _Encoded:
    cleaned = clean(block)
    raw = {column: _plain(block.columns[column]) for column in kept}
    missing = {feature.column: count for feature in clean.features if (count := _missing(feature, cleaned))}
    return _Encoded(block.first_row, work(cleaned), raw, missing)


def _missing(feature: Feature, block: CleanBlock) -> int:
    cleaned = block.columns[feature.name]
    return cleaned.values.null_count if isinstance(cleaned, Cleaned) and not feature.is_target else 0


def _plain(values: pa.Array) -> pa.Array:
    return values.dictionary_decode() if pa.types.is_dictionary(values.type) else values
