"""Where a run lies. Designed for object stores: whole objects under flat names, no rename, no folders, no append."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable
from pathlib import Path

Chunk = bytes | bytearray | memoryview
COPY_BYTES = 1 << 24


class Storage(ABC):
    """One run's place. A name is relative, its parts joined by `/`; a prefix ends in `/` (or is empty: the run itself).

    Every operation raises EnvironmentFailure, one line that names the place, when the machine does not let it.
    """

    location: str
    """The folder or the URI, as a person would write it."""

    @abstractmethod
    def read(self, name: str) -> bytes:
        """The newest complete content. Raises FileNotFoundError where there is none."""

    @abstractmethod
    def write(self, name: str, chunks: Iterable[Chunk], *, durable: bool = True) -> None:
        """Replace the content by `chunks`, joined; a reader sees the old or the new, never a part.

        `durable` waits until it survives a loss of power.
        """

    @abstractmethod
    def create(self, name: str, data: bytes) -> bool:
        """Like `write`, and only one of all who try succeeds; False says that another was first."""

    @abstractmethod
    def list(self, prefix: str = "") -> list[str]:
        """What lies directly under `prefix`, sorted and without it; what has names below it ends in `/`."""

    @abstractmethod
    def exists(self, name: str) -> bool: ...

    @abstractmethod
    def delete(self, name: str) -> None:
        """Absent is fine."""

    @abstractmethod
    def delete_tree(self, prefix: str) -> None:
        """Delete every name under `prefix`, in any order. Absent is fine."""

    @abstractmethod
    def check_writable(self) -> None:
        """Fail now rather than after an hour of work: write something small and delete it again."""

    def write_file(self, name: str, path: Path) -> None:
        """`write` the content of a local file."""
        with path.open("rb") as file:
            self.write(name, iter(lambda: file.read(COPY_BYTES), b""))
