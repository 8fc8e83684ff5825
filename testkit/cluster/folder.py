"""The temporary folder of a control plane: removed with it, or by the next one."""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path

from testkit.cluster import locks

PREFIX = "trainwright-"
ALIVE = "alive"


class Folder:
    """A temporary folder that stays locked as long as this process lives."""

    def __init__(self, parent: Path | None = None) -> None:
        parent = parent or Path(tempfile.gettempdir())
        sweep(parent)
        self.path = Path(tempfile.mkdtemp(prefix=PREFIX, dir=parent))
        self._alive = locks.held(self.path / ALIVE)

    def remove(self) -> None:
        self._alive.close()
        shutil.rmtree(self.path, ignore_errors=True)


def sweep(parent: Path) -> None:
    """Remove the folders of processes that were killed before they could clean up."""
    for mark in parent.glob(f"{PREFIX}*/{ALIVE}"):
        try:
            left_behind = not locks.is_held(mark)
        except OSError:  # another process was faster, or it belongs to another user
            continue
        if left_behind:
            shutil.rmtree(mark.parent, ignore_errors=True)
