"""File locks between processes. The kernel lets go of one when its holder ends, whatever ends it."""

from __future__ import annotations

import fcntl
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO


@contextmanager
def locked(path: Path) -> Iterator[None]:
    """Waits until no other process is inside the block for this path."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("a") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def held(path: Path) -> IO[str]:
    """Makes `path` as a file that is locked from its first moment on, until the returned file is closed."""
    young = path.with_name(f"{path.name}.young")
    file = young.open("x")
    fcntl.flock(file, fcntl.LOCK_EX)
    young.rename(path)
    return file


def is_held(path: Path) -> bool:
    """Whether a process that lives still holds the lock."""
    with path.open() as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
    return False
