"""Compute what the cache lacks of a data set: the split, then statistics and columns in passes over the files."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import pyarrow as pa

from trainwright_api.problems import Mistakes
from trainwright_trainer.data import source
from trainwright_trainer.data.cache_lookup import Adopt, CacheLookup, look_up
from trainwright_trainer.data.content import Contents, explained
from trainwright_trainer.data.encoded import EncodedColumns
from trainwright_trainer.data.files import Files
from trainwright_trainer.data.passes import Passes
from trainwright_trainer.data.row_split import KnownSplit, RowSplit, Split, assigns_by_row
from trainwright_trainer.data.rows import BLOCK_ROWS, RawColumn
from trainwright_trainer.data.selection import block_rows, coded_columns, wanted_columns, with_meaning_of_points
from trainwright_trainer.data.split import Parts
from trainwright_trainer.data.split_assignment import check_none_is_empty, column_of, parts_of
from trainwright_trainer.data.transforms import Clean, CleanBlock
from trainwright_trainer.features.column import Feature
from trainwright_trainer.frames.interface import Processor, Stage


class Computation:
    """The computation of what the cache lacks. Without `found`, the content of the files is hashed meanwhile."""

    def __init__(
        self,
        files: Files,
        contents: Contents,
        found: CacheLookup | None,
        config: Any,
        features: Sequence[Feature],
        seed: int,
        processor: Processor,
        adopt: Adopt,
    ) -> None:
        self._files, self._contents, self._found = files, contents, found
        self._config, self._seed, self._adopt = config, seed, adopt
        self._features = features
        self._columns = EncodedColumns()
        lacking = [feature for feature in self._features if found is None or feature.name not in found.columns]
        read = lacking or self._features[:1]  # counting the rows needs one column
        self._stage = stage_of(files, read, config.preprocessing, processor)
        self._passes = Passes(self._stage, lacking, self._columns, adopt)

    def run(self) -> tuple[CacheLookup, bool]:
        """The lookup with every result, and whether the cache held them all."""
        try:
            with explained(self._contents.confirm):
                return self._completed()
        finally:
            self._contents.stop()
            self._columns.discard()

    def _completed(self) -> tuple[CacheLookup, bool]:
        if self._found is None:
            self._contents.start()
        else:
            self._passes.known(self._found)
        parts = None if self._found is None else self._found.parts
        if parts is None and not assigns_by_row(self._config.preprocessing):
            parts = self._parts_of_all()
            found, hit = self._confirmed(parts)
        else:
            parts = self._passes.run(self._split(parts), self._found)
            found, hit = self._confirmed(parts)
            if not hit:
                self._conclude(found)
        while not hit and not self._passes.are_done:
            self._passes.run(KnownSplit(parts), found)
            self._contents.confirm()
            self._conclude(found)
        return found, hit

    def _split(self, parts: Parts | None) -> Split:
        return RowSplit(self._config.preprocessing, self._seed) if parts is None else KnownSplit(parts)

    def _confirmed(self, parts: Parts) -> tuple[CacheLookup, bool]:
        """The lookup after the first pass, with its parts, and whether it is whole. Raises `Mistakes`."""
        check_holds_rows(self._files, len(parts))
        if self._found is not None:
            self._contents.confirm()
            found, hit = self._found, False
        else:
            content = self._contents.finish()
            found = look_up(self._contents.cache, content, self._config, self._seed, self._features, self._adopt)
            hit = found.is_whole(self._features)
            self._passes.known(found)
        if found.parts is None:
            found.add_parts(parts, from_column=column_of(self._config.preprocessing) is not None)
        check_none_is_empty(parts, [], self._config.preprocessing)
        return found, hit

    def _conclude(self, found: CacheLookup) -> None:
        self._passes.conclude(found)
        if self._passes.problems:
            raise Mistakes(self._passes.problems)

    def _parts_of_all(self) -> Parts:
        """The parts of a split that needs several passes of its own."""
        preprocessing = self._config.preprocessing
        rows = sum(self._stage.map(_rows_of))
        check_holds_rows(self._files, rows)
        column = RawColumn(_SplitColumn(self._stage), range(0, rows, block_rows(self._features) or BLOCK_ROWS))
        return parts_of(preprocessing, self._seed, rows, column if column_of(preprocessing) is not None else None)


class _SplitColumn:
    """The raw column of the split, read again by each iteration."""

    def __init__(self, stage: Stage[CleanBlock]) -> None:
        self._stage = stage

    def __iter__(self) -> Iterator[pa.Array]:
        return self._stage.map(_split_of)


def _split_of(block: CleanBlock) -> pa.Array:
    return block.split


def _rows_of(block: CleanBlock) -> int:
    return block.rows


def stage_of(
    files: Files, features: Sequence[Feature], preprocessing: Any | None, processor: Processor
) -> Stage[CleanBlock]:
    """The clean blocks of the features, with the column of the split."""
    wanted = wanted_columns(list(features), preprocessing)
    split = None if preprocessing is None else column_of(preprocessing)
    data = source.DataSource(files, wanted, coded_columns(list(features), preprocessing), block_rows(features))
    return processor.stage(data, Clean(tuple(with_meaning_of_points(features, source.points(files))), split))


def check_holds_rows(files: Files, rows: int) -> None:
    """Raise `Mistakes` if there are none."""
    if not rows:
        raise Mistakes.one("dataset", f"{files.dataset!r} holds no rows.")
