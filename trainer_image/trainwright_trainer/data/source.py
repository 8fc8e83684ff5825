"""Read the needed columns of a data set, file after file, in blocks with a fixed number of rows."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

import pyarrow as pa

from trainwright_api.problems import Mistakes
from trainwright_trainer.data.agreement import Wanted, agree, check_columns
from trainwright_trainer.data.datafile import DataFile, reason_of
from trainwright_trainer.data.files import Files
from trainwright_trainer.data.formats import FORMATS
from trainwright_trainer.data.formats.reader import NumeralReader, RangeReader, UnreadableFileError
from trainwright_trainer.data.partitions import keys_of, with_keys
from trainwright_trainer.data.rows import BLOCK_ROWS, Block, blocks_of
from trainwright_trainer.errors import EnvironmentFailure
from trainwright_trainer.features.column import Points


def check(files: Files, wanted: Wanted) -> None:
    """Raise `Mistakes` for columns that the first file lacks, if its head contains the names of the columns."""
    keys = keys_of(files.names[0])
    with _readable(files.each[0]) as file:
        columns = files.reader.columns(file)
    if columns is not None:
        check_columns(files, files.dataset, [*(name for name in columns if name not in keys), *keys], wanted)


def columns_of(files: Files) -> Sequence[str]:
    """The names of all columns. It reads all files, if only their rows tell them. Raises `Mistakes`."""
    keys = keys_of(files.names[0])
    with _readable(files.each[0]) as file:
        names = files.reader.columns(file)
    return _names_in_any(files) if names is None else [*(name for name in names if name not in keys), *keys]


def notices(files: Files) -> Sequence[str]:
    """Lines for the user on how the files are read. It may read the head of the first file. Raises `Mistakes`."""
    with _readable(files.each[0]):
        return files.reader.notices


def points(files: Files) -> Mapping[str, Points]:
    """By column: what a point before three digits separates in texts, where it may be no decimals.

    It may read the head of the first file. Raises `Mistakes` and `EnvironmentFailure`.
    """
    with _readable(files.each[0]) as file:
        reader = files.reader
        return reader.points(file) if isinstance(reader, NumeralReader) else {}


def blocks(files: Files, wanted: Wanted, coded: Sequence[str], block_rows: int | None = None) -> Iterator[Block]:
    """The wanted columns of all rows; those in `coded` preferably as dictionaries. Raises `Mistakes`."""
    return blocks_of(_tables(files, wanted, coded), block_rows=block_rows)


def _tables(files: Files, wanted: Wanted, coded: Sequence[str]) -> Iterator[pa.Table]:
    columns = _columns(wanted)
    kinds: dict[str, tuple[str, str]] = {}
    may_lack, is_known = FORMATS[files.format].has_keys and not files.is_single, False
    for file, name in zip(files.each, files.names, strict=True):
        keys = keys_of(name)
        with _readable(file):
            for read in files.reader.read(file, [column for column in columns if column not in keys], coded):
                table = with_keys(read, keys, files.options.na_values or ()) if keys else read
                lacking = [column for column in columns if column not in table.column_names] if may_lack else []
                if lacking and not is_known:
                    check_columns(files, files.dataset, _names_in_any(files, columns), wanted)
                    is_known = True
                table = _with_nulls(table, lacking)
                if name == files.names[0]:
                    check_columns(files, files.dataset if files.is_single else name, table.column_names, wanted)
                agree(kinds, name, table, columns)
                yield table.select(columns)


def _with_nulls(table: pa.Table, names: Sequence[str]) -> pa.Table:
    """The table with columns of nulls."""
    for name in names:
        table = table.append_column(name, pa.nulls(len(table)))
    return table


def _names_in_any(files: Files, until: Sequence[str] | None = None) -> Sequence[str]:
    """The names of the columns of the files, of all or up to the file with which those in `until` are found."""
    names = dict[str, None]()
    for file, name in zip(files.each, files.names, strict=True):
        with _readable(file):
            for table in files.reader.read(file, [""], []):  # for a name that no file has, all columns
                names |= dict.fromkeys([*table.column_names, *keys_of(name)])
        if until is not None and names.keys() >= set(until):
            break
    return list(names)


@dataclass(frozen=True)
class DataSource:
    """The wanted columns of a data set, for a processor."""

    files: Files
    wanted: Wanted
    coded: Sequence[str]
    block_rows: int | None = None
    """None: `BLOCK_ROWS`."""

    def blocks(self) -> Iterator[Block]:
        """Raises `Mistakes` and `EnvironmentFailure`."""
        return blocks(self.files, self.wanted, self.coded, self.block_rows)

    def divisible(self) -> DivisibleData | None:
        """Reads the head of each file and checks its columns, if the format has one. Raises the errors of `blocks`."""
        files, kinds, rows = self.files, dict[str, tuple[str, str]](), list[int]()
        with _readable(files.each[0]):
            reader = files.reader
        if not isinstance(reader, RangeReader):
            return None
        columns = _columns(self.wanted)
        for file, name in zip(files.each, files.names, strict=True):
            with _readable(file):
                head = reader.head(file)
            table = with_keys(head.schema.empty_table(), keys_of(name))
            if name == files.names[0]:
                check_columns(files, files.dataset if files.is_single else name, table.column_names, self.wanted)
            agree(kinds, name, table, columns)
            rows.append(head.rows)
        return DivisibleData(self, tuple(rows))


@dataclass(frozen=True)
class DivisibleData:
    """A data set whose files have known numbers of rows."""

    data: DataSource
    rows: tuple[int, ...]

    @property
    def count(self) -> int:
        return -(-sum(self.rows) // self.block_rows)

    def part(self, start: int, stop: int) -> DataPart:
        size = self.block_rows
        return DataPart(self, range(start * size, min(stop * size, sum(self.rows))))

    @property
    def block_rows(self) -> int:
        return self.data.block_rows or BLOCK_ROWS


@dataclass(frozen=True)
class DataPart:
    """Consecutive rows of a data set. The first one begins a block."""

    whole: DivisibleData
    rows: range

    def blocks(self) -> Iterator[Block]:
        """Raises `Mistakes` and `EnvironmentFailure`."""
        return blocks_of(self._tables(), self.rows.start, self.whole.data.block_rows)

    def divisible(self) -> None:
        """None: a part is not divided again."""

    def _tables(self) -> Iterator[pa.Table]:
        data, first = self.whole.data, 0
        columns = _columns(data.wanted)
        reader = data.files.reader
        assert isinstance(reader, RangeReader)
        for file, name, rows in zip(data.files.each, data.files.names, self.whole.rows, strict=True):
            keys, wanted = keys_of(name), range(max(self.rows.start - first, 0), min(self.rows.stop - first, rows))
            stored = [column for column in columns if column not in keys]
            first += rows
            if wanted:
                with _readable(file):
                    for table in reader.read_rows(file, stored, data.coded, wanted):
                        yield with_keys(table, keys).select(columns)


def _columns(wanted: Wanted) -> list[str]:
    return sorted({column for _, column in wanted})


@contextmanager
def _readable(file: DataFile) -> Iterator[DataFile]:
    """Turn the errors of a file into `Mistakes` or `EnvironmentFailure` with one line that names the file."""
    try:
        yield file
    except UnreadableFileError as error:
        raise Mistakes.one("dataset", f"{file.name!r} {error}") from error
    except FileNotFoundError as error:
        raise Mistakes.one("dataset", f"{file.name!r} has gone while it was read.") from error
    except OSError as error:
        raise EnvironmentFailure(f"dataset: {str(file)!r} cannot be read ({reason_of(error)}).") from error
