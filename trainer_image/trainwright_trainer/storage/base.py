"""The storage interface. It fits object stores: whole objects under flat names, no rename, no folders, no append.

Runs, caches, data sets and models use the same interface.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from tempfile import SpooledTemporaryFile, TemporaryFile
from typing import IO, TYPE_CHECKING, Any, Protocol, cast

from trainwright_trainer.storage.location import Place

if TYPE_CHECKING:
    import pyarrow as pa
    from pyarrow import fs

Chunk = bytes | bytearray | memoryview
Fill = Callable[[IO[bytes]], None]
"""Writes the content of an object into an open file."""
Identity = Mapping[str, Any]
"""Plain JSON that changes whenever the content changes. It is empty for an absent object."""
COPY_BYTES = 1 << 24
READERS = 8
"""Objects of a store that are read side by side. More would take memory, and gained nothing at 15 ms a request."""
READ_BYTES = 8 << 20
"""Bytes that a sequential reader of a store fetches at once."""


@dataclass(frozen=True)
class ObjectFacts:
    """An object in a listing. `changed`: the time of its last change, in seconds since 1970."""

    name: str
    size: int
    changed: float


_IN_MEMORY = 64 << 20
"""A larger content is buffered on the local disk until it is written."""


class OpenObject(Protocol):
    """An object that is being written. It appears when it is committed, and never if it is discarded.

    Both methods close the file. They raise EnvironmentFailure as `Storage.write` does.
    """

    file: IO[bytes]

    def commit(self) -> None: ...

    def discard(self) -> None: ...


class Storage(ABC):
    """Objects under one root. A name is relative, with parts joined by `/`.

    A prefix ends in `/`, or is empty for the root itself. Every operation but `open` and `stream` raises
    EnvironmentFailure if the machine refuses it. The message is one line that names the place.
    """

    root: Place
    is_remote: bool
    """True if each read is a network request, so that few large reads are faster."""

    def readers(self, cores: int) -> int:
        """The objects to read or write side by side with `cores` cores: more where each read waits for a network."""
        return max(cores, READERS) if self.is_remote else cores

    @property
    def location(self) -> str:
        """The folder or the URI, in the form that a user writes."""
        return str(self.root)

    @abstractmethod
    def read(self, name: str) -> bytes:
        """The newest complete content. Raises FileNotFoundError if there is none."""

    @abstractmethod
    def open(self, name: str) -> pa.NativeFile:
        """The object as an Arrow file. Raises FileNotFoundError if it is absent, and OSError if it cannot be read."""

    @abstractmethod
    def arrow(self, prefix: str) -> tuple[fs.FileSystem, str]:
        """Arrow's file system and the path of a prefix in it, without a slash, for libraries that write by it."""

    @abstractmethod
    def stream(self, name: str) -> IO[bytes]:
        """The object as a seekable stream at the first byte. Raises the errors of `open`."""

    @abstractmethod
    def write(self, name: str, chunks: Iterable[Chunk], *, durable: bool = True) -> None:
        """Replace the content by the joined `chunks`. A reader sees the old or the new content, never a part of it.

        With `durable`, it returns only when the content survives a power loss.
        """

    @abstractmethod
    def create(self, name: str, data: bytes) -> bool:
        """Like `write`, but only one of several writers succeeds. Returns False if `name` exists already."""

    @abstractmethod
    def list(self, prefix: str = "") -> list[str]:
        """The names directly under `prefix`, sorted, without the prefix. A name that has names below it ends in `/`."""

    @abstractmethod
    def list_facts(self, prefix: str = "") -> Sequence[ObjectFacts]:
        """All objects whose names begin with `prefix`, in any order, with the hidden ones."""

    def list_tree(self, prefix: str = "") -> Sequence[str]:
        """All names that begin with `prefix`, in any order, with the hidden ones."""
        return [found.name for found in self.list_facts(prefix)]

    def match(self, pattern: str) -> Sequence[str]:
        """The names that match a pattern as in a shell. `**` matches any number of folders.

        A wildcard matches neither a leading dot nor a leading underscore.
        """
        return [name for name in self.list_tree() if matches(name, pattern)]

    @abstractmethod
    def identities(self, names: Sequence[str]) -> Sequence[Identity]:
        """The current identity of each object."""

    @abstractmethod
    def exists(self, name: str) -> bool: ...

    @abstractmethod
    def delete(self, name: str) -> None:
        """Delete `name`. An absent name is not an error."""

    @abstractmethod
    def delete_tree(self, prefix: str) -> None:
        """Delete every name under `prefix`, in any order. An absent prefix is not an error."""

    @abstractmethod
    def delete_leftovers(self) -> None:
        """Delete the temporary files of writers that were killed more than a day ago, one folder below the root."""

    @abstractmethod
    def check_writable(self, *, exclusive: bool = True) -> None:
        """Write a small object and delete it, so that a run fails before its work if the location is not writable.

        With `exclusive`, check also that `create` succeeds for one writer only.
        """

    def write_file(self, name: str, path: Path) -> None:
        """`write` the content of a local file."""
        with path.open("rb") as file:
            self.write(name, iter(lambda: file.read(COPY_BYTES), b""))

    def write_by(self, name: str, fill: Fill) -> None:
        """`write` the content that `fill` writes into a file."""
        with SpooledTemporaryFile(_IN_MEMORY) as file:
            fill(cast(IO[bytes], file))
            file.seek(0)
            self.write(name, iter(lambda: file.read(COPY_BYTES), b""))

    def begin(self, name: str) -> OpenObject:
        """Begin to write `name` piece by piece, with many objects at once. A local file holds it until the commit."""
        return _OnDisk(self, name)


class _OnDisk:
    """An `OpenObject` in a temporary file, for storages that take whole objects."""

    def __init__(self, storage: Storage, name: str) -> None:
        self._storage, self._name = storage, name
        self.file: IO[bytes] = cast(IO[bytes], TemporaryFile())  # noqa: SIM115 (closed by commit and discard)

    def commit(self) -> None:
        with self.file:
            self.file.seek(0)
            self._storage.write(self._name, iter(lambda: self.file.read(COPY_BYTES), b""))

    def discard(self) -> None:
        self.file.close()


def matches(name: str, pattern: str) -> bool:
    """True if `Storage.match` returns the name."""
    return _match(name.split("/"), pattern.split("/"))


def _match(parts: Sequence[str], pattern: Sequence[str]) -> bool:
    if not pattern:
        return not parts
    first, *rest = pattern
    if first == "**" and _match(parts, rest):
        return True
    if not parts or (parts[0][:1] in (".", "_") and not first.startswith(parts[0][:1])):
        return False
    return _match(parts[1:], pattern) if first == "**" else fnmatchcase(parts[0], first) and _match(parts[1:], rest)
