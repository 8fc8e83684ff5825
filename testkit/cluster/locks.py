"""File locks between processes, and temporary folders that are locked while their process lives."""

from __future__ import annotations

import fcntl
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO


@contextmanager
def locked(path: Path) -> Iterator[None]:
    """Wait until no other process is inside the block for this path."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("a") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def held(path: Path) -> IO[str]:
    """Create `path` as a file that is locked from the start until the returned file is closed."""
    young = path.with_name(f"{path.name}.young")
    file = young.open("x")
    fcntl.flock(file, fcntl.LOCK_EX)
    young.rename(path)
    return file


def is_held(path: Path) -> bool:
    """True if a living process holds the lock."""
    with path.open() as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
    return False


PREFIX = "trainwright-"
ALIVE = "alive"


class Folder:
    """A temporary folder that stays locked as long as this process lives."""

    def __init__(self, parent: Path | None = None) -> None:
        parent = parent or Path(tempfile.gettempdir())
        sweep(parent)
        self.path = Path(tempfile.mkdtemp(prefix=PREFIX, dir=parent))
        self._alive = held(self.path / ALIVE)

    def remove(self) -> None:
        self._alive.close()
        shutil.rmtree(self.path, ignore_errors=True)


def sweep(parent: Path) -> None:
    """Remove the folders of processes that were killed before they could clean up."""
    for mark in parent.glob(f"{PREFIX}*/{ALIVE}"):
        try:
            left_behind = not is_held(mark)
        except OSError:  # another process was faster, or it belongs to another user
            continue
        if left_behind:
            shutil.rmtree(mark.parent, ignore_errors=True)
