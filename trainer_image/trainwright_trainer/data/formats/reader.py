"""What every reader of a format offers, and the one exception that it raises for a file that it cannot read."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Protocol

import pyarrow as pa


class UnreadableFileError(Exception):
    """A file that is not what it claims to be, or is damaged: a line after its name."""


class Reader(Protocol):
    """Reads one file. Only `columns` and `read` open it; both raise `UnreadableFileError`."""

    name: str
    is_text: bool

    def columns(self, path: Path) -> list[str] | None:
        """The names of the file's columns; None where only reading the whole file can tell."""

    def read(self, path: Path, columns: Sequence[str], coded: Sequence[str]) -> Iterator[pa.Table]:
        """The rows in their order, in tables of any size, with at least those of `columns` that the file has.

        Those in `coded` are best handed out as dictionaries. Text formats give text, nothing is guessed.
        """
