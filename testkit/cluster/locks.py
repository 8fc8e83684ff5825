"""File locks between processes. The kernel releases a lock when its holder ends, for any reason."""

from __future__ import annotations

import fcntl
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
