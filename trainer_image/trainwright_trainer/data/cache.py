"""The cache folder: small entries as JSON, columns as Parquet; each is a file that is either whole or not there.

    sources/<key>.json       what a raw file holds, while it does not change
    rows/<key>.json          how many rows a content has
    splits/<key>.parquet     the part of every row
    statistics/<key>.json    one feature's statistics
    features/<key>.parquet   one encoded column, all rows in the order of the source

A writer fills a file of its own and renames it, so a reader, another process or a crash never meets half an entry; two
processes that write the same entry write the same bytes. An entry that cannot be read counts as absent.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import IO, Any

from trainwright_trainer.data import columnfile
from trainwright_trainer.data.keys import digest
from trainwright_trainer.errors import EnvironmentFailure

FOLDER = ".trainwright_cache"
_WRITING = ".writing-"
_DAY = 86_400.0


class Cache:
    """One folder of entries. Columns are written by one thread of its own; `finish` waits for it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._writer = ThreadPoolExecutor(1, thread_name_prefix="cache")
        self._pending: list[Future[None]] = []
        self._failure: OSError | None = None
        self._notices: list[str] = []

    def make(self) -> None:
        """Makes the folder, if need be. Raises `EnvironmentFailure` where it cannot be written."""
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            with NamedTemporaryFile(dir=self.folder, prefix=".probe-"):
                self._sweep()
        except OSError as error:
            raise EnvironmentFailure(
                f"the cache cannot be written to {str(self.folder)!r} ({error.strerror}). "
                "Set backend.cache_dir to a folder that can be written."
            ) from error

    def _sweep(self) -> None:
        """Removes what killed writers left. None lives for a day, so nobody's work is taken away."""
        for path in self.folder.glob(f"*/{_WRITING}*"):
            with suppress(FileNotFoundError):  # its writer has just renamed it
                if time.time() - path.stat().st_mtime > _DAY:
                    path.unlink()

    def read_json(self, kind: str, key: str) -> dict[str, Any] | None:
        """The entry, or None."""
        path = self.folder / kind / f"{key}.json"
        try:
            found = json.loads(path.read_text(encoding="utf-8"))
            if found["digest"] == digest(found["entry"]):
                return dict(found["entry"])
        except FileNotFoundError:
            return None
        except (OSError, ValueError, KeyError, TypeError):
            pass
        self._damaged(path)
        return None

    def write_json(self, kind: str, key: str, entry: Mapping[str, Any]) -> None:
        """Commits the entry at once."""
        text = json.dumps({"digest": digest(entry), "entry": entry}, ensure_ascii=False)
        self._commit(kind, f"{key}.json", lambda file: _discard(file.write(text.encode())))

    def has_column(self, kind: str, key: str) -> bool:
        return (self.folder / kind / f"{key}.parquet").exists()

    def read_column(self, kind: str, key: str) -> columnfile.Column | None:
        """The column and its notices, or None."""
        path = self.folder / kind / f"{key}.parquet"
        try:
            return columnfile.read(path)
        except FileNotFoundError:
            return None
        except (OSError, ValueError):  # pa.ArrowInvalid is a ValueError
            self._damaged(path)
            return None

    def write_column(self, kind: str, key: str, column: columnfile.Column) -> None:
        """Commits the column in the background."""
        task = self._writer.submit(self._commit, kind, f"{key}.parquet", lambda file: columnfile.write(file, column))
        self._pending.append(task)

    def finish(self) -> tuple[str, ...]:
        """Waits until all is committed; the notices of what went wrong, each of them once."""
        self._writer.shutdown(wait=True)
        for task in self._pending:
            task.result()
        self._pending.clear()
        notices = list(self.take_notices())
        if self._failure is not None:
            notices.append(
                f"the cache in {str(self.folder)!r} could not be written ({self._failure.strerror}); "
                "the next run will preprocess again"
            )
        return tuple(notices)

    def take_notices(self) -> tuple[str, ...]:
        """What was found damaged so far; each line is given once."""
        notices, self._notices = self._notices, []
        return tuple(notices)

    def _damaged(self, path: Path) -> None:
        notice = f"cache entry {str(path)!r} is damaged; it is made again"
        if notice not in self._notices:
            self._notices.append(notice)

    def _commit(self, kind: str, name: str, fill: Callable[[IO[bytes]], None]) -> None:
        """Writes a file of its own, syncs it and renames it. After a failure nothing more is tried."""
        if self._failure is not None:
            return
        folder = self.folder / kind
        try:
            folder.mkdir(parents=True, exist_ok=True)
            with NamedTemporaryFile(dir=folder, prefix=_WRITING, delete=False) as file:
                try:
                    fill(file)
                    file.flush()
                    os.fsync(file.fileno())
                    os.replace(file.name, folder / name)
                except BaseException:
                    os.unlink(file.name)
                    raise
            _sync(folder)
        except OSError as error:
            self._failure = error


def _discard(_: int) -> None:
    """A writer's count of bytes is nobody's result."""


def _sync(folder: Path) -> None:
    """A rename is safe from a power cut once its folder is synced."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
