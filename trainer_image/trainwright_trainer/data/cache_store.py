"""Where the entries of a cache lie: under names, each of them whole or not there."""

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
    """Reading raises FileNotFoundError where there is no entry, another OSError where it cannot be read."""

    location: str

    def make(self) -> None:
        """Makes it, if need be. Raises EnvironmentFailure where nothing can be written."""

    def read(self, name: str) -> bytes: ...

    def open(self, name: str) -> pa.NativeFile: ...

    def has(self, name: str) -> bool: ...

    def commit(self, name: str, fill: Fill) -> None:
        """Writes the whole entry, or nothing. Raises OSError or EnvironmentFailure."""


class FolderCacheStore:
    """A folder. A writer fills a file of its own and renames it, so nobody meets half an entry."""

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
        """Removes what killed writers left. None lives for a day, so nobody's work is taken away."""
        for path in self.folder.glob(f"*/{_WRITING}*"):
            with suppress(FileNotFoundError):  # its writer has just renamed it
                if time.time() - path.stat().st_mtime > _DAY:
                    path.unlink()

    def read(self, name: str) -> bytes:
        return (self.folder / name).read_bytes()

    def open(self, name: str) -> pa.NativeFile:
        return pa.OSFile(str(self.folder / name))

    def has(self, name: str) -> bool:
        return (self.folder / name).exists()

    def commit(self, name: str, fill: Fill) -> None:
        """Writes a file of its own, syncs it and renames it."""
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
    """A rename is safe from a power cut once its folder is synced."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
