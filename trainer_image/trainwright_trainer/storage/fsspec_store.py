"""Stores that fsspec reads at any offset: Azure, the Hugging Face hub, SFTP."""

from __future__ import annotations

import io
from collections.abc import Mapping, Sequence
from typing import IO, TYPE_CHECKING, Any, cast

from trainwright_trainer.storage.base import READ_BYTES, ObjectFacts
from trainwright_trainer.storage.read_only import ReadOnlyStorage

if TYPE_CHECKING:
    import pyarrow as pa


class FsspecStorage(ReadOnlyStorage):
    """The files below a URI that one of fsspec's packages reads."""

    def read(self, name: str) -> bytes:
        return bytes(self._asked(name, lambda path: self._files.cat_file(path)))

    def open(self, name: str) -> pa.NativeFile:
        import pyarrow as pa

        return pa.PythonFile(self.stream(name), mode="r")

    def stream(self, name: str) -> IO[bytes]:
        found = self._asked(name, lambda path: self._files.open(path, "rb", block_size=READ_BYTES))
        return cast(IO[bytes], io.BufferedReader(found, READ_BYTES))

    def list_facts(self) -> Sequence[ObjectFacts]:
        root = self._path("").rstrip("/")
        found: Mapping[str, Any] = self._asked("", lambda path: self._files.find(path, detail=True))
        return [
            ObjectFacts(path.removeprefix(root).lstrip("/"), int(facts.get("size") or 0), 0.0)
            for path, facts in found.items()
            if path != root
        ]

    def exists(self, name: str) -> bool:
        try:
            return bool(self._asked(name, lambda path: self._files.info(path))["type"] == "file")
        except FileNotFoundError:
            return False

    def _mark(self, name: str) -> str:
        return str(self._asked(name, lambda path: self._files.ukey(path)))
