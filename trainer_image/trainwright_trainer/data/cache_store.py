"""The store of a cache: named entries, each of them complete or absent."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import IO, Protocol

import pyarrow as pa

from trainwright_trainer.errors import EnvironmentFailure

Fill = Callable[[IO[bytes]], None]

_WRITING = ".writing-"
_DAY = 86_400.0


class CacheStore(Protocol):
    """Reading raises FileNotFoundError if the entry is absent, and another OSError if it cannot be read."""

    location: str

    def make(self) -> None:
        """Make the store if it does not exist. Raises EnvironmentFailure if it cannot be written."""

    def read(self, name: str) -> bytes: ...

    def open(self, name: str) -> pa.NativeFile: ...

    def has(self, name: str) -> bool: ...

    def commit(self, name: str, fill: Fill) -> None:
        """Write the whole entry or nothing. Raises OSError or EnvironmentFailure."""


class FolderCacheStore:
    """A folder. A writer fills a temporary file and renames it, so no reader sees an incomplete entry."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.location = str(folder)

    def make(self) -> None:
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            with NamedTemporaryFile(dir=self.folder, prefix=".probe-"):
                self._sweep()
        except OSError as error:
            raise EnvironmentFailure(
                f"the cache cannot be written to {self.location!r} ({error.strerror}). "
                "Set backend.cache_dir to a folder that can be written."
            ) from error

    def _sweep(self) -> None:
        """Delete temporary files of killed writers. They are older than a day, which no running write takes."""
        for path in self.folder.glob(f"*/{_WRITING}*"):
            with suppress(FileNotFoundError):  # its writer may rename it at this moment
                if time.time() - path.stat().st_mtime > _DAY:
                    path.unlink()

    def read(self, name: str) -> bytes:
        return (self.folder / name).read_bytes()

    def open(self, name: str) -> pa.NativeFile:
        return pa.OSFile(str(self.folder / name))

    def has(self, name: str) -> bool:
        return (self.folder / name).exists()

    def commit(self, name: str, fill: Fill) -> None:
        """Write a temporary file, sync it and rename it."""
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        with NamedTemporaryFile(dir=path.parent, prefix=_WRITING, delete=False) as file:
            try:
                fill(file)
                file.flush()
                os.fsync(file.fileno())
                os.replace(file.name, path)
            except BaseException:
                os.unlink(file.name)
                raise
        _sync(path.parent)


def _sync(folder: Path) -> None:
    """Sync `folder`: only then does a rename in it survive a power loss."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
