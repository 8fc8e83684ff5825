"""Stores that hold data sets alone, read through the classes of fsspec."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterable, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, NoReturn, Self, TypeVar

from trainwright_api.locations import DATA_ONLY
from trainwright_api.problems import Mistakes
from trainwright_trainer.errors import EnvironmentFailure
from trainwright_trainer.storage.base import Chunk, Identity, Storage
from trainwright_trainer.storage.location import DataUri
from trainwright_trainer.storage.retry_policy import RetryPolicy

if TYPE_CHECKING:
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

    def __reduce__(self) -> tuple[type[Self], tuple[DataUri]]:
        """Clients cannot be pickled: another process makes its own."""
        return type(self), (self.root,)

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

    def list(self, prefix: str = "") -> list[str]:
        names = (name.removeprefix(prefix) for name in self.list_tree() if name.startswith(prefix))
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
        """The path of a file for fsspec."""
        return str(self._files._strip_protocol((self.root / name if name else self.root).url))

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
