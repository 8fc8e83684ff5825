"""Which storage a user's `output` means: the scheme of a URI → its class. A new one is one file and one line."""

from __future__ import annotations

from pathlib import Path

from trainwright_trainer.errors import not_built
from trainwright_trainer.rundir.folder import FolderStorage
from trainwright_trainer.rundir.storage import Storage


def storage_at(output: str) -> Storage:
    """The storage that a user's `output` names. Raises Mistakes for one that this version lacks."""
    scheme, found, _ = output.partition("://")
    if found and scheme != "file":
        raise not_built("output", f"{scheme}://", "folders")
    return FolderStorage(Path(output.removeprefix("file://")))
