"""Files of the web. A file is fetched whole before it is read, because not every server reads at an offset."""

from __future__ import annotations

import hashlib
import shutil
import weakref
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from tempfile import mkdtemp
from typing import IO, TYPE_CHECKING, Any

from trainwright_trainer.storage.base import ObjectFacts
from trainwright_trainer.storage.location import DataUri
from trainwright_trainer.storage.read_only import ReadOnlyStorage
from trainwright_trainer.storage.retry_policy import RetryPolicy

if TYPE_CHECKING:
    import pyarrow as pa


class WebStorage(ReadOnlyStorage):
    """The files below a URL of http:// or https://. Servers list no files, so only a file's own name finds it."""

    def __init__(self, root: DataUri, retry_policy: RetryPolicy | None = None) -> None:
        super().__init__(root, retry_policy)
        self._fetched: dict[str, Path] = {}

    @cached_property
    def _folder(self) -> Path:
        """The folder of the fetched copies, which goes with this object."""
        folder = mkdtemp(prefix="trainwright-data-")
        weakref.finalize(self, shutil.rmtree, folder, ignore_errors=True)
        return Path(folder)

    def read(self, name: str) -> bytes:
        return self._copy(name).read_bytes()

    def open(self, name: str) -> pa.NativeFile:
        import pyarrow as pa

        return pa.OSFile(str(self._copy(name)))

    def stream(self, name: str) -> IO[bytes]:
        return self._copy(name).open("rb")

    def list_facts(self, prefix: str = "") -> Sequence[ObjectFacts]:  # noqa: ARG002 (a server lists nothing)
        return []

    def exists(self, name: str) -> bool:
        try:
            self._copy(name)
        except FileNotFoundError:
            return False
        return True

    def _mark(self, name: str) -> str:
        with self.stream(name) as file:
            return hashlib.file_digest(file, "sha256").hexdigest()  # type: ignore[arg-type]

    def _copy(self, name: str) -> Path:
        """The fetched copy of a file. Raises FileNotFoundError, and EnvironmentFailure."""
        if name not in self._fetched:
            copy = Path(mkdtemp(dir=self._folder)) / "copy"  # two threads may fetch at once
            self._asked(name, lambda files, url: files.get_file(url, str(copy)))
            self._fetched[name] = copy
        return self._fetched[name]

    def _path(self, files: Any, name: str) -> str:  # noqa: ARG002
        return (self.root / name if name else self.root).url
