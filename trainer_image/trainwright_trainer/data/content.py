"""What the raw files hold, as one hash: taken while they are read, and remembered as long as they do not change."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import asdict, dataclass
from pathlib import Path

from trainwright_api.problems import Mistakes
from trainwright_trainer.data.cache import Cache
from trainwright_trainer.data.files import Files
from trainwright_trainer.data.keys import digest

_TICK_NS = 20_000_000
"""Longer than the step of any file system's clock: a file that is older cannot change without a new mtime."""


@dataclass(frozen=True)
class Identity:
    """By these a file is known to be unchanged."""

    path: str
    inode: int
    size: int
    mtime_ns: int


def identity_of(path: Path) -> Identity:
    found = path.stat()
    return Identity(str(path.resolve()), found.st_ino, found.st_size, found.st_mtime_ns)


def content_of(files: Files, hashes: Sequence[str]) -> str:
    """The key of the whole: of one file its format and bytes, of several their names as well."""
    names = None if files.is_single else list(files.names)
    return digest(["content", files.reader.name, names, list(hashes)])


class Contents:
    """The hashes of one data set's files."""

    def __init__(self, files: Files, cache: Cache) -> None:
        self._files, self.cache = files, cache
        self._identities = [identity_of(path) for path in files.paths]
        self._hashes: list[Future[str]] = []

    def remembered(self) -> str | None:
        """The content, if all files were read before and have not changed since; opens none of them."""
        hashes = []
        for identity in self._identities:
            found = self.cache.read_json("sources", digest(identity.path))
            if found is None or found["identity"] != asdict(identity):
                return None
            hashes.append(found["sha256"])
        return content_of(self._files, hashes)

    def start(self) -> None:
        """Begins to hash beside the reader, in a thread: hashing needs no lock."""
        _let_tick_pass(self._identities)
        pool = ThreadPoolExecutor(1, thread_name_prefix="hash")
        self._hashes = [pool.submit(_sha256, path) for path in self._files.paths]
        pool.shutdown(wait=False)

    def confirm(self) -> None:
        """Raises `Mistakes` where a file has changed since its identity was taken."""
        for path, before in zip(self._files.paths, self._identities, strict=True):
            if identity_of(path) != before:
                raise Mistakes.one(
                    "dataset", f"{path.name!r} changed while it was read. Start again when it is written."
                )

    def finish(self) -> str:
        """The content, once all is read. Raises `Mistakes` where a file changed meanwhile."""
        hashes = [future.result() for future in self._hashes]
        self.confirm()
        for identity, sha256 in zip(self._identities, hashes, strict=True):
            self.cache.write_json("sources", digest(identity.path), {"identity": asdict(identity), "sha256": sha256})
        return content_of(self._files, hashes)


def _let_tick_pass(identities: Sequence[Identity]) -> None:
    age = time.time_ns() - max(identity.mtime_ns for identity in identities)
    if 0 <= age < _TICK_NS:
        time.sleep((_TICK_NS - age) / 1e9)


def _sha256(path: Path) -> str:
    with path.open("rb", buffering=0) as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def content_now(files: Files) -> str:
    """The content of files as they lie there, read from end to end; nothing is remembered."""
    return content_of(files, [_sha256(path) for path in files.paths])
