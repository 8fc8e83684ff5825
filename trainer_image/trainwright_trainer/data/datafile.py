"""One file of a data set, on this machine or in a store: the interface for readers and for the content's hash."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path, PurePath
from typing import IO, Any, Protocol

import pyarrow as pa

Identity = Mapping[str, Any]
"""Plain JSON that changes whenever the file changes."""


class DataFile(Protocol):
    """Every method raises OSError if the file cannot be reached."""

    @property
    def path(self) -> PurePath:
        """The path, used for the name and the suffixes."""

    @property
    def is_far(self) -> bool:
        """True if each read is a network request, so that few large reads are faster."""

    def open(self) -> IO[bytes]:
        """A seekable stream at the first byte."""

    def native(self) -> pa.NativeFile:
        """The same as an Arrow file, which is fastest for Arrow's readers."""


def is_of_a_store(error: Exception) -> bool:
    """True if Arrow reports an error of an object store or of the network. Arrow marks these by their text only."""
    return "AWS Error" in str(error)


def said_by(error: OSError) -> str:
    """The error as a short text."""
    return error.strerror or " ".join(f"{error}".partition("AWS Error ")[2].split()) or f"{error}"


@dataclass(frozen=True)
class LocalFile:
    """A file of this machine."""

    path: Path
    is_far = False

    def __str__(self) -> str:
        return str(self.path)

    def open(self) -> IO[bytes]:
        return self.path.open("rb")

    def native(self) -> pa.NativeFile:
        return pa.OSFile(str(self.path))


def identity_of(path: Path) -> Identity:
    found = path.stat()
    return {
        "path": str(path.resolve()),
        "inode": found.st_ino,
        "size": found.st_size,
        "mtime_ns": found.st_mtime_ns,
    }
