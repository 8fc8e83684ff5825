"""The content of the raw files as one hash. It is computed while they are read, and cached while they do not change."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any, cast

from trainwright_api.problems import Mistakes
from trainwright_trainer.data.cache import Cache
from trainwright_trainer.data.datafile import DataFile, reason_of
from trainwright_trainer.data.files import Files
from trainwright_trainer.data.keys import digest
from trainwright_trainer.errors import EnvironmentFailure
from trainwright_trainer.storage.base import Identity

_TICK_NS = 20_000_000
"""Longer than the resolution of a file system's clock: a change of an older file always changes its mtime."""


def content_of(files: Files, hashes: Sequence[str]) -> str:
    """The key of a data set: its format, its bytes and the options that are given; for several files their names too.

    A dialect that is not given follows from the bytes.
    """
    names = None if files.is_single else list(files.names)
    options = files.options.model_dump(exclude_none=True, exclude={"format"})
    return digest(["content", files.format, names, list(hashes), options])


def confirm(files: Files, identities: Sequence[Identity]) -> None:
    """Raise `Mistakes` if a file has changed since its identity was taken."""
    for file, before, now in zip(files.each, identities, files.look(), strict=True):
        if now != before:
            raise Mistakes.one("dataset", f"{file.name!r} changed while it was read. Start again when it is written.")


@contextmanager
def explained(confirm: Callable[[], None]) -> Iterator[None]:
    """Raise the `Mistakes` of `confirm` in place of another error: a file that changes may look damaged.

    An `EnvironmentFailure` stays as it is, because a store that is away would be asked once more.
    """
    try:
        yield
    except EnvironmentFailure:
        raise
    except Exception:
        confirm()
        raise


class Contents:
    """The hashes of one data set's files."""

    def __init__(self, files: Files, cache: Cache) -> None:
        self._files, self.cache = files, cache
        self._identities = list(files.look())
        self._hashes: list[Future[str]] = []

    @property
    def entries(self) -> dict[str, str | None]:
        """The names of the cache's entries about these files."""
        return {f"sources/{digest(identity['path'])}.json": None for identity in self._identities if identity}

    def remembered(self) -> str | None:
        """The content if all files were read before and have not changed since, else None. It opens no file."""
        hashes = []
        for identity in self._identities:
            if not identity:
                return None
            found = self.cache.read_json("sources", digest(identity["path"]))
            if found is None or found["identity"] != identity:
                return None
            hashes.append(found["sha256"])
        return content_of(self._files, hashes)

    def start(self) -> None:
        """Start to hash in a background thread. hashlib releases the GIL, so the reader runs at the same time."""
        _let_tick_pass(self._identities)
        pool = ThreadPoolExecutor(1, thread_name_prefix="hash")
        self._hashes = [pool.submit(_sha256, file) for file in self._files.each]
        pool.shutdown(wait=False)

    def stop(self) -> None:
        """Hash no further file. The end of the process waits for a file that is being hashed."""
        for future in self._hashes:
            future.cancel()

    def confirm(self) -> None:
        """Raise `Mistakes` if a file has changed since its identity was taken."""
        confirm(self._files, self._identities)

    def finish(self) -> str:
        """The content, after all files are read. Raises `Mistakes` if a file has changed meanwhile."""
        hashes = [future.result() for future in self._hashes]
        self.confirm()
        for identity, sha256 in zip(self._identities, hashes, strict=True):
            self.cache.write_json("sources", digest(identity["path"]), {"identity": identity, "sha256": sha256})
        return content_of(self._files, hashes)


def _let_tick_pass(identities: Sequence[Identity]) -> None:
    """Sleep until the newest file is older than `_TICK_NS`. Objects of a store need none: a write changes the ETag."""
    age = time.time_ns() - max(identity.get("mtime_ns", 0) for identity in identities)
    if 0 <= age < _TICK_NS:
        time.sleep((_TICK_NS - age) / 1e9)


def _sha256(file: DataFile) -> str:
    try:
        with file.open() as stream:
            return hashlib.file_digest(cast(Any, stream), "sha256").hexdigest()
    except OSError as error:
        raise EnvironmentFailure(f"dataset: {str(file)!r} cannot be read ({reason_of(error)}).") from error


def hashes_now(files: Files) -> list[str]:
    """The SHA-256 of each file as it is now. It reads them completely and caches nothing."""
    return [_sha256(file) for file in files.each]
