"""Data for a trained model, encoded block by block with the statistics of its training: no split and no cache.

A few blocks are in memory at a time, so the data may be larger than the memory. No row is removed: a row that a feature
drops has a null in that feature's column.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from trainwright_api.problems import Mistakes, Problem
from trainwright_trainer.data import source
from trainwright_trainer.data.columnfile import Column
from trainwright_trainer.data.encoded import EncodedColumn
from trainwright_trainer.data.files import Files
from trainwright_trainer.data.image_columns import with_files
from trainwright_trainer.data.missing_cells import missing_line, named
from trainwright_trainer.data.prepared import TEST, UNSAMPLED, Columns, Prepared
from trainwright_trainer.data.row_split import WholePart
from trainwright_trainer.data.rows import Block, blocks_of
from trainwright_trainer.data.selection import block_rows, coded_columns, features_of, wanted_columns
from trainwright_trainer.data.split import Parts
from trainwright_trainer.data.table_schema import flat
from trainwright_trainer.data.transforms import Clean, CleanBlock, Failed, Pass, PassedBlock, Work
from trainwright_trainer.features.column import Cleaned, Decoder, Feature, Statistics
from trainwright_trainer.frames.interface import Source
from trainwright_trainer.frames.pandas import in_threads
from trainwright_trainer.storage.base import Storage
from trainwright_trainer.storage.registry import storage_of
from trainwright_trainer.storage.s3client.credentials import S3Credentials

KEEP = "--keep"
"""The path, in messages, of a column that the user wants beside the predictions."""


@dataclass(frozen=True)
class DataFiles:
    """The files of a data set."""

    files: Files
    access: S3Credentials | None = None
    """The keys for files that the data name; None takes them from the environment."""

    @property
    def home(self) -> Storage:
        """The folder to which paths in the data are relative."""
        return self.files.storage

    @property
    def name(self) -> str:
        return self.files.dataset

    def columns(self) -> Sequence[str]:
        """Raises `Mistakes` and `EnvironmentFailure`."""
        return source.columns_of(self.files)

    def source(self, wanted: source.Wanted, coded: Sequence[str], block_rows: int | None = None) -> Source[Block]:
        source.check(self.files, wanted)
        return source.DataSource(self.files, wanted, coded, block_rows)

    def notices(self) -> Sequence[str]:
        return source.notices(self.files)


@dataclass(frozen=True)
class DataTable:
    """A table in memory."""

    table: pa.Table
    name: str
    access: S3Credentials | None = None
    folder: Storage | None = None
    """The folder to which paths in the table are relative. None: the working folder."""

    @property
    def home(self) -> Storage:
        return self.folder or storage_of(Path())

    def columns(self) -> Sequence[str]:
        return list(self._flat.column_names)

    def source(self, wanted: source.Wanted, coded: Sequence[str], block_rows: int | None = None) -> Source[Block]:  # noqa: ARG002
        """Raises `Mistakes` for columns that the table lacks."""
        table = self._flat
        source.check_names(self.name, table.column_names, wanted)
        return _TableSource(table.select(sorted({column for _, column in wanted})), block_rows)

    def notices(self) -> Sequence[str]:
        return ()

    @property
    def _flat(self) -> pa.Table:
        return flat(self.table)


@dataclass(frozen=True)
class _TableSource:
    table: pa.Table
    block_rows: int | None

    def blocks(self) -> Iterator[Block]:
        return blocks_of([self.table] if len(self.table) else [], block_rows=self.block_rows)

    def divisible(self) -> None:
        """None: the table is in the memory of this process."""


@dataclass(frozen=True)
class EncodedBlock:
    """Consecutive rows. In `data.splits`, the rows that are asked for are in the test part, from `first_row` on.

    `kept`: the raw columns that the user wants beside the predictions.
    """

    first_row: int
    data: Prepared
    kept: Mapping[str, pa.Array]


class NewData:
    """The blocks of a data set for a model. `rows`, `missing`, `unknown` and `notices` count what `blocks` has read.

    By input column, `missing` counts the missing cells, `unknown` those with a category that the model does not know.
    """

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
    ) -> None:
        """`targets`: encode the output features too. `splits`: the parts of all rows, of which the test part is asked
        for; None: all rows. `decoder`: of images. Raises `Mistakes` for columns that the data lack, and
        `EnvironmentFailure`."""
        self.name = data.name
        self.rows = 0
        self.missing, self.unknown = Counter[str](), Counter[str]()
        self._data, self._splits, self._first_row = data, splits, 0
        self._features = with_files(features_of(config, targets=targets, decoder=decoder), data.home, data.access)
        self._statistics = {feature.name: statistics[feature.name] for feature in self._features}
        works = [
            Work(feature, {}, statistics[feature.name], observes=False, encodes=True) for feature in self._features
        ]
        self._columns = {work.feature.name: EncodedColumn(work) for work in works}
        wanted = [*wanted_columns(self._features, None), *((KEEP, column) for column in kept)]
        coded = sorted(set(coded_columns(self._features, None)) - set(kept))
        self._source = data.source(wanted, coded, block_rows(self._features))
        clean, work = Clean(tuple(self._features)), Pass(tuple(works), WholePart(TEST))
        self._encode = partial(_encoded, clean, work, tuple(kept))

    def blocks(self) -> Iterator[EncodedBlock]:
        """All blocks, in their order. Raises `Mistakes`: the first one of each feature, or if there are no rows."""
        ready: dict[str, deque[pa.Array]] = {name: deque() for name in self._columns}
        kept: deque[Mapping[str, pa.Array]] = deque()
        problems: dict[str, Problem] = {}
        for block in in_threads(self._encode, self._source.blocks(), pa.cpu_count()):
            self._count(block)
            for name, worked in block.passed.works.items():
                if isinstance(worked, Failed):
                    problems.setdefault(name, worked.problem)
                elif not problems:
                    self._columns[name].add(worked)
                    ready[name].extend(self._columns[name].take())
            if not problems:
                kept.append(block.kept)
                yield from self._complete(ready, kept)
        if problems:
            raise Mistakes(problems[name] for name in self._columns if name in problems)
        if not self.rows:
            raise Mistakes.one("dataset", f"{self.name!r} holds no rows.")
        for name, column in self._columns.items():
            column.end()
            ready[name].extend(column.take())
        yield from self._complete(ready, kept)

    def raw(self) -> Source[Block]:
        """The raw columns of the features."""
        return self._data.source(wanted_columns(self._features, None), (), block_rows(self._features))

    def notices(self) -> tuple[str, ...]:
        """Lines for the user, after all blocks are read."""
        of_columns = [line for column in self._columns.values() for line in column.notices()]
        return tuple(dict.fromkeys([*self._data.notices(), *of_columns, *self._counted_cells()]))

    def _counted_cells(self) -> Iterator[str]:
        """One line with the cells for which the model has no value of the training, if there are any."""
        found = [missing_line(self.missing)] if self.missing else []
        found += [f"categories that the model does not know: {named(self.unknown)}"] if self.unknown else []
        if found:
            yield " · ".join(found)

    def _count(self, block: _Encoded) -> None:
        self.rows += len(block.passed.parts)
        self.missing.update(block.missing)
        for feature in self._features:
            worked = block.passed.works[feature.name]
            if not isinstance(worked, Failed) and worked.encoded is not None and worked.encoded.unknown_categories:
                self.unknown[feature.column] += worked.encoded.unknown_categories

    def _complete(
        self, ready: Mapping[str, deque[pa.Array]], kept: deque[Mapping[str, pa.Array]]
    ) -> Iterator[EncodedBlock]:
        """The blocks that all columns have by now: one that is filled from later rows waits for them."""
        while kept and all(ready.values()):
            columns = {name: waiting.popleft() for name, waiting in ready.items()}
            rows = len(next(iter(columns.values())))
            first = self._first_row
            self._first_row += rows
            yield EncodedBlock(first, self._prepared(columns, first, rows), kept.popleft())

    def _prepared(self, columns: Mapping[str, pa.Array], first: int, rows: int) -> Prepared:
        wanted = np.full(rows, TEST, np.uint8)
        if self._splits is not None:
            wanted[self._splits[first : first + rows] != TEST] = UNSAMPLED
        return Prepared(
            dataset=self.name,
            rows=rows,
            splits=wanted,
            columns=Columns({name: Column(pa.chunked_array([values])) for name, values in columns.items()}),
            statistics=self._statistics,
            content="",
            cache_key="",
            cache_hit=False,
        )


@dataclass(frozen=True)
class _Encoded:
    """A block after its encoding, before gaps are filled from neighbours. `missing`: by input column."""

    passed: PassedBlock
    kept: Mapping[str, pa.Array]
    missing: Mapping[str, int]


def _encoded(clean: Clean, work: Pass, kept: Sequence[str], block: Block) -> _Encoded:
    cleaned = clean(block)
    raw = {column: _plain(block.columns[column]) for column in kept}
    missing = {feature.column: count for feature in clean.features if (count := _missing(feature, cleaned))}
    return _Encoded(work(cleaned), raw, missing)


def _missing(feature: Feature, block: CleanBlock) -> int:
    cleaned = block.columns[feature.name]
    return cleaned.values.null_count if isinstance(cleaned, Cleaned) and not feature.is_target else 0


def _plain(values: pa.Array) -> pa.Array:
    return values.dictionary_decode() if pa.types.is_dictionary(values.type) else values
