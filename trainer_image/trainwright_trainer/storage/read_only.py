"""Stores that hold data sets alone, read through the classes of fsspec.

A file of the web is fetched whole before it is read, because not every server reads at an offset.
"""

from __future__ import annotations

import hashlib
import io
import shutil
import weakref
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from tempfile import mkdtemp
from typing import IO, TYPE_CHECKING, Any, NoReturn, TypeVar, cast

from trainwright_api.locations import DATA_ONLY, WEB
from trainwright_api.problems import Mistakes
from trainwright_trainer.errors import EnvironmentFailure
from trainwright_trainer.storage.base import READ_BYTES, Chunk, Identity, ObjectFacts, Storage
from trainwright_trainer.storage.location import DataUri
from trainwright_trainer.storage.retry_policy import RetryPolicy

if TYPE_CHECKING:
    import pyarrow as pa
    from pyarrow import fs

T = TypeVar("T")
_PASSING = (408, 425, 429)
"""The statuses of HTTP below 500 after which a request is repeated."""
_FINAL = (FileNotFoundError, IsADirectoryError, PermissionError, ValueError, ImportError, NotImplementedError)


class ReadOnlyStorage(Storage):
    """The files below a URI. Every operation that writes raises EnvironmentFailure."""

    is_remote = True
    root: DataUri  # type: ignore[assignment]

    def __init__(self, root: DataUri, retry_policy: RetryPolicy | None = None) -> None:
        self.root = root
        self._retry_policy = retry_policy or RetryPolicy()
        self._is_web = root.scheme in WEB
        self._fetched: dict[str, Path] = {}

    def __reduce__(self) -> tuple[type[ReadOnlyStorage], tuple[DataUri]]:
        """Clients cannot be pickled: another process makes its own."""
        return ReadOnlyStorage, (self.root,)

    @cached_property
    def _files(self) -> Any:
        """fsspec's file system. Raises Mistakes if its package is missing."""
        from fsspec.core import url_to_fs

        scheme = self.root.scheme
        try:
            return url_to_fs(self.root.url)[0]
        except ImportError as error:
            line = f"{scheme} needs one more package: pip install {DATA_ONLY[scheme]}"
            raise Mistakes.one("dataset", line) from error

    @cached_property
    def _folder(self) -> Path:
        """The folder of the fetched copies, which goes with this object."""
        folder = mkdtemp(prefix="trainwright-data-")
        weakref.finalize(self, shutil.rmtree, folder, ignore_errors=True)
        return Path(folder)

    def read(self, name: str) -> bytes:
        if self._is_web:
            return self._local(name).read_bytes()
        return bytes(self._asked(name, lambda path: self._files.cat_file(path)))

    def open(self, name: str) -> pa.NativeFile:
        import pyarrow as pa

        return pa.OSFile(str(self._local(name))) if self._is_web else pa.PythonFile(self.stream(name), mode="r")

    def stream(self, name: str) -> IO[bytes]:
        if self._is_web:
            return self._local(name).open("rb")
        found = self._asked(name, lambda path: self._files.open(path, "rb", block_size=READ_BYTES))
        return cast(IO[bytes], io.BufferedReader(found, READ_BYTES))

    def list(self, prefix: str = "") -> list[str]:
        names = (name.removeprefix(prefix) for name in self.list_tree() if name.startswith(prefix))
        below = {name.partition("/")[0] + ("/" if "/" in name else "") for name in names}
        return sorted(name for name in below if not name.startswith("."))

    def list_facts(self) -> Sequence[ObjectFacts]:
        """Nothing for a place on the web, where servers list no files."""
        if self._is_web:
            return []
        root = self._path("").rstrip("/")
        found: Mapping[str, Any] = self._asked("", lambda path: self._files.find(path, detail=True))
        return [
            ObjectFacts(path.removeprefix(root).lstrip("/"), int(facts.get("size") or 0), 0.0)
            for path, facts in found.items()
            if path != root
        ]

    def identities(self, names: Sequence[str]) -> Sequence[Identity]:
        return [self._identity(name) for name in names]

    def _identity(self, name: str) -> Identity:
        try:
            return {"path": str(self.root / name), "content": self._mark(name)}
        except FileNotFoundError:
            return {}

    def _mark(self, name: str) -> str:
        """A text that changes with the content: its hash on the web, else what fsspec says of the file."""
        if self._is_web:
            with self._local(name).open("rb") as file:
                return hashlib.file_digest(file, "sha256").hexdigest()
        return str(self._asked(name, lambda path: self._files.ukey(path)))

    def exists(self, name: str) -> bool:
        try:
            if self._is_web:
                self._local(name)
                return True
            return bool(self._asked(name, lambda path: self._files.info(path))["type"] == "file")
        except FileNotFoundError:
            return False

    def _local(self, name: str) -> Path:
        """The fetched copy of a file of the web. Raises FileNotFoundError, and EnvironmentFailure."""
        if name not in self._fetched:
            copy = self._folder / str(len(self._fetched))
            self._asked(name, lambda path: self._files.get_file(path, str(copy)))
            self._fetched[name] = copy
        return self._fetched[name]

    def _asked(self, name: str, act: Callable[[str], T]) -> T:
        """The result of `act` for the path of a file, which is repeated while the store cannot be reached."""
        path = self._path(name)
        return self._retry_policy.ask(
            lambda: act(path), (Exception,), _is_passing, lambda error, _: self._failure(name, error)
        )

    def _failure(self, name: str, error: Exception) -> Exception:
        """The libraries of the stores have many classes of errors, and all but an absent file are the environment's."""
        if isinstance(error, FileNotFoundError | Mistakes):
            return error
        status = getattr(error, "status", None)
        reason = f"status {status}" if status else " ".join(str(error).split()) or type(error).__name__
        return EnvironmentFailure(f"{self.root / name if name else self.root} cannot be read ({reason})")

    def _path(self, name: str) -> str:
        url = (self.root / name if name else self.root).url
        return url if self._is_web else str(self._files._strip_protocol(url))

    def arrow(self, prefix: str) -> tuple[fs.FileSystem, str]:  # noqa: ARG002
        self._refuse()

    def write(self, name: str, chunks: Iterable[Chunk], *, durable: bool = True) -> None:  # noqa: ARG002
        self._refuse()

    def create(self, name: str, data: bytes) -> bool:  # noqa: ARG002
        self._refuse()

    def delete(self, name: str) -> None:  # noqa: ARG002
        self._refuse()

    def delete_tree(self, prefix: str) -> None:  # noqa: ARG002
        self._refuse()

    def delete_leftovers(self) -> None:
        self._refuse()

    def check_writable(self, *, exclusive: bool = True) -> None:  # noqa: ARG002
        self._refuse()

    def _refuse(self) -> NoReturn:
        raise EnvironmentFailure(f"{self.location}: data sets are read from there, and nothing is written")


def _is_passing(error: Exception) -> bool:
    status = getattr(error, "status", None)
    if isinstance(status, int):
        return status >= 500 or status in _PASSING
    return not isinstance(error, (*_FINAL, Mistakes))
