"""The storage interface. It fits object stores: whole objects under flat names, no rename, no folders, no append."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable
from pathlib import Path

Chunk = bytes | bytearray | memoryview
COPY_BYTES = 1 << 24


class Storage(ABC):
    """The storage of one run. A name is relative, with parts joined by `/`.

    A prefix ends in `/`, or is empty for the run itself. Every operation raises EnvironmentFailure if the machine
    refuses it. The message is one line that names the place.
    """

    location: str
    """The folder or the URI, in the form that a user writes."""

    @abstractmethod
    def read(self, name: str) -> bytes:
        """The newest complete content. Raises FileNotFoundError if there is none."""

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
    def exists(self, name: str) -> bool: ...

    @abstractmethod
    def delete(self, name: str) -> None:
        """Delete `name`. An absent name is not an error."""

    @abstractmethod
    def delete_tree(self, prefix: str) -> None:
        """Delete every name under `prefix`, in any order. An absent prefix is not an error."""

    @abstractmethod
    def check_writable(self) -> None:
        """Write a small object and delete it, so that a run fails before its work if the location is not writable."""

    def write_file(self, name: str, path: Path) -> None:
        """`write` the content of a local file."""
        with path.open("rb") as file:
            self.write(name, iter(lambda: file.read(COPY_BYTES), b""))
