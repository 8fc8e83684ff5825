"""Stores that hold data sets alone, read through the classes of fsspec."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any, NoReturn, Self, TypeVar

from trainwright_api.locations import DATA_ONLY
from trainwright_api.problems import Mistakes, OneLine
from trainwright_trainer.errors import EnvironmentFailure
from trainwright_trainer.storage.base import Chunk, Identity, Storage
from trainwright_trainer.storage.location import DataUri
from trainwright_trainer.storage.retry_policy import RetryPolicy

if TYPE_CHECKING:
    from pyarrow import fs

T = TypeVar("T")
_PASSING = (408, 425, 429)
"""The statuses of HTTP below 500 after which a request is repeated."""
_KEY_ERRORS = ("Authentication", "BadHostKey")
"""Words in the names of classes of errors after which a request is not repeated."""
_FINAL = (FileNotFoundError, IsADirectoryError, PermissionError, ValueError, ImportError, NotImplementedError, OneLine)
"""A `OneLine` is a mistake, or the signal that stops the run."""


class ReadOnlyStorage(Storage):
    """The files below a URI. Every operation that writes raises EnvironmentFailure."""

    is_remote = True
    root: DataUri  # type: ignore[assignment]

    def __init__(self, root: DataUri, retry_policy: RetryPolicy | None = None) -> None:
        self.root = root
        self._retry_policy = retry_policy or RetryPolicy()

    def __reduce__(self) -> tuple[type[Self], tuple[DataUri]]:
        """Clients cannot be pickled: another process makes its own."""
        return type(self), (self.root,)

    def _files(self) -> Any:
        """fsspec's file system of this thread, which fsspec keeps. Raises Mistakes if its package is missing."""
        from fsspec.core import url_to_fs

        scheme = self.root.scheme
        try:
            return url_to_fs(self.root.url)[0]
        except ImportError as error:
            line = f"{scheme} needs one more package: pip install {DATA_ONLY[scheme]}"
            raise Mistakes.one("dataset", line) from error

    def list(self, prefix: str = "") -> list[str]:
        names = (name.removeprefix(prefix) for name in self.list_tree(prefix))
        below = {name.partition("/")[0] + ("/" if "/" in name else "") for name in names}
        return sorted(name for name in below if not name.startswith("."))

    def identities(self, names: Sequence[str]) -> Sequence[Identity]:
        return [self._identity(name) for name in names]

    def _identity(self, name: str) -> Identity:
        try:
            return {"path": str(self.root / name), "content": self._mark(name)}
        except FileNotFoundError:
            return {}

    @abstractmethod
    def _mark(self, name: str) -> str:
        """A text that changes with the content of a file."""

    def _asked(self, name: str, act: Callable[[Any, str], T]) -> T:
        """The result of `act` for the file system and the path of a file. It is repeated while the store cannot be
        reached, with a new connection."""

        def once() -> T:
            files = self._files()
            try:
                return act(files, self._path(files, name))
            except Exception as error:
                if _is_passing(error):
                    type(files).clear_instance_cache()
                raise

        return self._retry_policy.ask(once, (Exception,), _is_passing, lambda error, _: self._failure(name, error))

    def _failure(self, name: str, error: Exception) -> Exception:
        """The libraries of the stores have many classes of errors, and all but an absent file are the environment's."""
        if isinstance(error, FileNotFoundError | OneLine):
            return error
        return EnvironmentFailure(f"{self.root / name if name else self.root} cannot be read ({_reason_of(error)})")

    def _path(self, files: Any, name: str) -> str:
        """The path of a file for fsspec."""
        return str(files._strip_protocol((self.root / name if name else self.root).url))

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


def _status_of(error: Exception) -> int | None:
    """The status of HTTP, as aiohttp and Azure's library give it."""
    found = getattr(error, "status", None) or getattr(error, "status_code", None)
    return found if isinstance(found, int) else None


def _is_passing(error: Exception) -> bool:
    status = _status_of(error)
    if status is not None:
        return status >= 500 or status in _PASSING
    return not isinstance(error, _FINAL) and not _is_about_keys(error)


def _is_about_keys(error: Exception) -> bool:
    """True if a store refuses the user. Its packages may be absent, so the classes are known by their names."""
    names = [kind.__name__ for kind in type(error).__mro__]
    return any(word in name for name in names for word in _KEY_ERRORS) or "authentication" in str(error).lower()


def _reason_of(error: Exception) -> str:
    status = _status_of(error)
    if isinstance(error, TimeoutError) and not str(error):
        return "no answer in time"
    if status is None:
        lines = str(getattr(error, "strerror", None) or error).strip().splitlines()
        return lines[0].rstrip(" :") if lines else type(error).__name__
    code = getattr(error, "error_code", None)
    return f"status {status}" + (f", {getattr(code, 'value', code)}" if code else "")
