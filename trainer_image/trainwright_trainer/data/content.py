"""What the raw files hold, as one hash: taken while they are read, and remembered as long as they do not change."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any, cast

from trainwright_api.problems import Mistakes
from trainwright_trainer.data.cache import Cache
from trainwright_trainer.data.datafile import DataFile, Identity, said_by
from trainwright_trainer.data.files import Files
from trainwright_trainer.data.keys import digest
from trainwright_trainer.errors import EnvironmentFailure

_TICK_NS = 20_000_000
"""Longer than the step of any file system's clock: a file that is older cannot change without a new mtime."""


def content_of(files: Files, hashes: Sequence[str]) -> str:
    """The key of the whole: of one file its format and bytes, of several their names as well."""
    names = None if files.is_single else list(files.names)
    return digest(["content", files.reader.name, names, list(hashes)])


class Contents:
    """The hashes of one data set's files."""

    def __init__(self, files: Files, cache: Cache) -> None:
        self._files, self.cache = files, cache
        self._identities = list(files.look())
        self._hashes: list[Future[str]] = []

    def remembered(self) -> str | None:
        """The content, if all files were read before and have not changed since; opens none of them."""
        hashes = []
        for identity in self._identities:
            found = self.cache.read_json("sources", digest(identity["path"]))
            if found is None or found["identity"] != identity:
                return None
            hashes.append(found["sha256"])
        return content_of(self._files, hashes)

    def start(self) -> None:
        """Begins to hash beside the reader, in a thread: hashing needs no lock."""
        _let_tick_pass(self._identities)
        pool = ThreadPoolExecutor(1, thread_name_prefix="hash")
        self._hashes = [pool.submit(_sha256, file) for file in self._files.each]
        pool.shutdown(wait=False)

    def confirm(self) -> None:
        """Raises `Mistakes` where a file has changed since its identity was taken."""
        for file, before, now in zip(self._files.each, self._identities, self._files.look(), strict=True):
            if now != before:
                raise Mistakes.one(
                    "dataset", f"{file.path.name!r} changed while it was read. Start again when it is written."
                )

    def finish(self) -> str:
        """The content, once all is read. Raises `Mistakes` where a file changed meanwhile."""
        hashes = [future.result() for future in self._hashes]
        self.confirm()
        for identity, sha256 in zip(self._identities, hashes, strict=True):
            self.cache.write_json("sources", digest(identity["path"]), {"identity": identity, "sha256": sha256})
        return content_of(self._files, hashes)


def _let_tick_pass(identities: Sequence[Identity]) -> None:
    """Files of a store have no such time: their mark changes with every write."""
    age = time.time_ns() - max(identity.get("mtime_ns", 0) for identity in identities)
    if 0 <= age < _TICK_NS:
        time.sleep((_TICK_NS - age) / 1e9)


def _sha256(file: DataFile) -> str:
    try:
        with file.open() as stream:
            return hashlib.file_digest(cast(Any, stream), "sha256").hexdigest()
    except OSError as error:
        raise EnvironmentFailure(f"dataset: {str(file)!r} cannot be read ({said_by(error)}).") from error


def content_now(files: Files) -> str:
    """The content of files as they lie there, read from end to end; nothing is remembered."""
    return content_of(files, [_sha256(file) for file in files.each])
