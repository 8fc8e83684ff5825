"""Stores that fsspec reads at any offset: Azure, the Hugging Face hub, SFTP."""

from __future__ import annotations

import io
import logging
from collections.abc import Iterator, Mapping, Sequence
from typing import IO, TYPE_CHECKING, Any, cast

from trainwright_trainer.storage.base import READ_BYTES, ObjectFacts
from trainwright_trainer.storage.read_only import ReadOnlyStorage

if TYPE_CHECKING:
    import pyarrow as pa
    from _typeshed import WriteableBuffer

_OF_READS = "time"
"""In SFTP, the time of the last read: it changes while the content does not."""

for _package in ("paramiko", "azure"):  # else Python prints what they log of each try, such as tracebacks
    logging.getLogger(_package).addHandler(logging.NullHandler())


class FsspecStorage(ReadOnlyStorage):
    """The files below a URI that one of fsspec's packages reads."""

    def read(self, name: str) -> bytes:
        return bytes(self._asked(name, lambda files, path: files.cat_file(path)))

    def read_range(self, name: str, start: int, stop: int) -> bytes:
        """The bytes [start, stop), or fewer at the end of the file. Raises the errors of `read`."""
        return bytes(self._asked(name, lambda files, path: files.cat_file(path, start=start, end=stop)))

    def open(self, name: str) -> pa.NativeFile:
        import pyarrow as pa

        return pa.PythonFile(self.stream(name), mode="r")

    def stream(self, name: str) -> IO[bytes]:
        ranges = _Ranges(self, name, int(self._facts(name)["size"]))
        return cast(IO[bytes], io.BufferedReader(ranges, READ_BYTES))

    def list_facts(self, prefix: str = "") -> Sequence[ObjectFacts]:
        def found(files: Any, path: str) -> list[ObjectFacts]:
            files.invalidate_cache()
            root = path.rstrip("/")
            return [
                ObjectFacts(str(facts["name"]).removeprefix(root).lstrip("/"), int(facts.get("size") or 0), 0.0)
                for facts in _below(files, root)
                if facts["name"] != root
            ]

        try:
            everything = self._asked("", found)
        except FileNotFoundError:
            return []
        return [facts for facts in everything if facts.name.startswith(prefix)]

    def exists(self, name: str) -> bool:
        try:
            return bool(self._facts(name)["type"] == "file")
        except FileNotFoundError:
            return False

    def _files(self) -> Any:
        files = super()._files()
        azure = getattr(getattr(files, "service_client", None), "_config", None)
        if azure is not None:  # it would retry by itself for 90 s before anybody hears of the reason
            azure.retry_policy.total_retries = 0
        return files

    def _mark(self, name: str) -> str:
        return str(sorted((key, str(value)) for key, value in self._facts(name).items() if key != _OF_READS))

    def _facts(self, name: str) -> Mapping[str, Any]:
        """The facts of fsspec about a file as it is now."""

        def found(files: Any, path: str) -> Any:
            files.invalidate_cache()  # fsspec would answer from an old listing
            return files.info(path)

        return cast(Mapping[str, Any], self._asked(name, found))


def _below(files: Any, path: str) -> Iterator[Mapping[str, Any]]:
    """The facts of all files below a folder. fsspec's own walk omits folders that cannot be listed."""
    from fsspec import AbstractFileSystem

    if type(files).find is not AbstractFileSystem.find:  # one request for all folders
        yield from files.find(path, detail=True).values()
        return
    for facts in files.ls(path, detail=True):
        if facts["type"] == "directory":
            yield from _below(files, facts["name"].rstrip("/"))
        else:
            yield facts


class _Ranges(io.RawIOBase):
    """A file as a seekable stream. Each range is one request, so the stream goes on after a lost connection."""

    def __init__(self, storage: FsspecStorage, name: str, size: int) -> None:
        self._storage, self._name, self._size, self._at = storage, name, size, 0

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        self._at = offset + {io.SEEK_SET: 0, io.SEEK_CUR: self._at, io.SEEK_END: self._size}[whence]
        return self._at

    def tell(self) -> int:
        return self._at

    def readinto(self, buffer: WriteableBuffer) -> int:
        into = memoryview(buffer).cast("B")
        stop = min(self._at + len(into), self._size)
        found = self._storage.read_range(self._name, self._at, stop) if self._at < stop else b""
        into[: len(found)] = found
        self._at += len(found)
        return len(found)
