"""One file of a data set, wherever it lies: what its readers and the hash of its content need of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path, PurePath
from typing import IO, Any, Protocol

import pyarrow as pa

Identity = Mapping[str, Any]
"""Plain JSON by which a file is known to be unchanged."""


class DataFile(Protocol):
    """Every method raises OSError where the file cannot be reached."""

    @property
    def path(self) -> PurePath:
        """For its name and endings."""

    @property
    def is_far(self) -> bool:
        """Whether each read is a journey, so that few large ones are better."""

    def open(self) -> IO[bytes]:
        """From its first byte, and it can seek."""

    def native(self) -> pa.NativeFile:
        """The same, as Arrow's readers like it best."""


def is_of_a_store(error: Exception) -> bool:
    """Whether Arrow tells what a store of objects, or the way to it, has done. Its errors have no better mark."""
    return "AWS Error" in str(error)


def said_by(error: OSError) -> str:
    """In a few words."""
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
