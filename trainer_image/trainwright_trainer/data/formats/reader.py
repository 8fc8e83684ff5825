"""What every reader of a format offers, and the one exception that it raises for a file that it cannot read."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Protocol

import pyarrow as pa

from trainwright_trainer.data.datafile import DataFile, is_of_a_store


class UnreadableFileError(Exception):
    """A file that is not what it claims to be, or is damaged: a line after its name."""


@contextmanager
def damaged(line: str) -> Iterator[None]:
    """Turns what Arrow says of a file's bytes into that line. What a store says of itself is not the file's fault."""
    try:
        yield
    except (pa.ArrowInvalid, OSError) as error:
        if is_of_a_store(error):
            raise
        raise UnreadableFileError(line) from error


class Reader(Protocol):
    """Reads one file. Only `columns` and `read` open it; both raise `UnreadableFileError`."""

    name: str
    is_text: bool

    def columns(self, file: DataFile) -> list[str] | None:
        """The names of the file's columns; None where only reading the whole file can tell."""

    def read(self, file: DataFile, columns: Sequence[str], coded: Sequence[str]) -> Iterator[pa.Table]:
        """The rows in their order, in tables of any size, with at least those of `columns` that the file has.

        Those in `coded` are best handed out as dictionaries. Text formats give text, nothing is guessed.
        """
