"""The interface of a format's reader, and the exception that it raises for a file that it cannot read."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

import pyarrow as pa

from trainwright_trainer.data.datafile import DataFile, is_of_a_store
from trainwright_trainer.features.column import Points


class UnreadableFileError(Exception):
    """A file has the wrong format or is damaged. The message continues a line that starts with the file's name."""


@contextmanager
def damaged(line: str | Callable[[], str]) -> Iterator[None]:
    """Turn Arrow's errors about a file's bytes into `UnreadableFileError(line)`. Errors of a store are raised as is."""
    try:
        yield
    except (pa.ArrowInvalid, OSError) as error:
        if is_of_a_store(error):
            raise
        raise UnreadableFileError(line if isinstance(line, str) else line()) from error


@dataclass(frozen=True)
class FileHead:
    """The number of rows of a file, and its columns as they are stored."""

    rows: int
    schema: pa.Schema


class Reader(Protocol):
    """Reads the files of one data set. `columns` and `read` raise `UnreadableFileError`."""

    name: str

    @property
    def notices(self) -> Sequence[str]:
        """Lines for the user on how the files are read."""

    def columns(self, file: DataFile) -> list[str] | None:
        """The names of the file's columns; None if only reading the whole file can tell them."""

    def read(self, file: DataFile, columns: Sequence[str], coded: Sequence[str]) -> Iterator[pa.Table]:
        """The rows in their order, in tables of any size, with at least those of `columns` that the file has.

        Columns in `coded` are preferably dictionaries. Readers of text formats infer no types from text.
        """


@runtime_checkable
class NumeralReader(Reader, Protocol):
    """A reader of texts in which a point may be no decimal point."""

    def points(self, file: DataFile) -> Mapping[str, Points]:
        """By column: what a point before three digits separates, where it may be no decimals."""


@runtime_checkable
class RangeReader(Reader, Protocol):
    """A reader that can read any rows of a file without the rows before them."""

    def head(self, file: DataFile) -> FileHead:
        """Reads only the head or the footer. Raises `UnreadableFileError`."""

    def read_rows(
        self, file: DataFile, columns: Sequence[str], coded: Sequence[str], rows: range
    ) -> Iterator[pa.Table]:
        """Like `read`, but only the given rows."""
