"""Hash and count the bytes of a file while they are written to the storage."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator

from trainwright_trainer.storage.base import Chunk


class Counted:
    """Iterates over `chunks` once. Afterwards `size` holds the number of bytes, and `sha256` the hash in hex."""

    def __init__(self, chunks: Iterable[Chunk]) -> None:
        self._chunks = chunks
        self._hash = hashlib.sha256()
        self.size = 0

    def __iter__(self) -> Iterator[Chunk]:
        for chunk in self._chunks:
            self._hash.update(chunk)
            self.size += len(chunk)
            yield chunk

    @property
    def sha256(self) -> str:
        return self._hash.hexdigest()


def difference(data: bytes, size: int, sha256: str) -> str | None:
    """Describe the difference between `data` and the bytes that were written; None if they are equal."""
    if len(data) != size:
        return f"has {len(data):,} bytes instead of {size:,}"
    if hashlib.sha256(data).hexdigest() != sha256:
        return "its checksum does not match its content"
    return None
