"""Storage under a prefix of a bucket. A store writes an object whole or not at all, so nothing is renamed or synced."""

from __future__ import annotations

import io
import re
import secrets
from abc import abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from posixpath import commonprefix
from typing import IO, TYPE_CHECKING, ClassVar, Protocol, cast

from trainwright_trainer.errors import EnvironmentFailure
from trainwright_trainer.storage.base import READ_BYTES, Chunk, Identity, ObjectFacts, Storage, matches
from trainwright_trainer.storage.location import GcsUri, S3Uri

if TYPE_CHECKING:
    import pyarrow as pa
    from pyarrow import fs

_WILDCARD = re.compile(r"[*?[]")


@dataclass(frozen=True)
class Found:
    """An object without its content. `etag` changes with every change of the content.

    `changed`: the time of the last change, in seconds since 1970.
    """

    key: str
    size: int
    etag: str
    changed: float


class ObjectBucket(Protocol):
    """A bucket. Every operation may raise EnvironmentFailure, with one line: the object and the store's message.

    It is safe to use from several threads.
    """

    @property
    def address(self) -> str:
        """The address of the store; empty for the provider's own."""

    def read(self, key: str) -> bytes:
        """The content of the object. Raises FileNotFoundError if there is no such object."""

    def find(self, key: str) -> Found | None:
        """The object without its content; None if it does not exist."""

    def write(self, key: str, chunks: Iterable[Chunk]) -> None:
        """Write the object. A reader sees the old or the new content, never a part, whatever the size."""

    def create(self, key: str, data: bytes) -> bool:
        """Write the object if it does not exist. Only one of several writers succeeds; the others get False."""

    def below(self, prefix: str) -> Iterator[Found]:
        """The objects whose keys begin with `prefix`."""

    def names(self, prefix: str) -> Iterator[str]:
        """The rest of each key after `prefix`, up to and including the next slash."""

    def delete(self, key: str) -> None:
        """Delete the object. An absent object is not an error."""

    def delete_all(self, prefix: str) -> None:
        """Delete every object whose key begins with `prefix`."""


def create_once(
    ask: Callable[[Callable[[], bool]], bool], create: Callable[[], bool], read: Callable[[], bytes], data: bytes
) -> bool:
    """True if `create`, which `ask` may repeat, has written `data` as the object that `read` reads."""
    tries = 0

    def attempt() -> bool:
        nonlocal tries
        tries += 1
        return create()

    if ask(attempt):
        return True
    try:
        return tries > 1 and read() == data  # a try whose answer was lost may have succeeded
    except FileNotFoundError:
        return False


class BucketStorage(Storage):
    """Storage under the prefix `root`. The prefix may be empty, but its bucket must exist."""

    is_remote = True
    CONDITION: ClassVar[str]
    """The store's name for the condition of `create`."""

    def __init__(self, root: S3Uri | GcsUri, bucket: ObjectBucket) -> None:
        self.root: S3Uri | GcsUri = root
        self.bucket = bucket
        self._prefix = f"{root.key}/" if root.key else ""

    @property
    @abstractmethod
    def _arrow(self) -> fs.FileSystem:
        """Arrow's file system of the store."""

    def arrow(self, prefix: str) -> tuple[fs.FileSystem, str]:
        return self._arrow, f"{self.root.bucket}/{self._key(prefix)}".rstrip("/")

    def read(self, name: str) -> bytes:
        return self.bucket.read(self._key(name))

    def open(self, name: str) -> pa.NativeFile:
        _, path = self.arrow(name)
        return self._arrow.open_input_file(path)

    def stream(self, name: str) -> IO[bytes]:
        return cast(IO[bytes], io.BufferedReader(self.open(name), READ_BYTES))

    def write(self, name: str, chunks: Iterable[Chunk], *, durable: bool = True) -> None:  # noqa: ARG002 (always is)
        self.bucket.write(self._key(name), chunks)

    def create(self, name: str, data: bytes) -> bool:
        return self.bucket.create(self._key(name), data)

    def list(self, prefix: str = "") -> list[str]:
        # Consoles make an object with an empty name for an empty folder.
        return sorted(name for name in self.bucket.names(self._key(prefix)) if name and not name.startswith("."))

    def list_facts(self, prefix: str = "") -> Sequence[ObjectFacts]:
        return [
            ObjectFacts(found.key.removeprefix(self._prefix), found.size, found.changed)
            for found in self._objects(prefix)
        ]

    def match(self, pattern: str) -> Sequence[str]:
        """Only objects whose names begin as the pattern does are listed."""
        return [name for name in self.list_tree(_WILDCARD.split(pattern)[0]) if matches(name, pattern)]

    def identities(self, names: Sequence[str]) -> Sequence[Identity]:
        """Many objects are listed together, because one request lists a thousand of them."""
        keys = [self._key(name) for name in names]
        objects = [self.bucket.find(key) for key in keys] if len(keys) == 1 else self._objects(commonprefix(names))
        found = {each.key: self._identity(each) for each in objects if each is not None}
        return [found.get(key, {}) for key in keys]

    def exists(self, name: str) -> bool:
        return self.bucket.find(self._key(name)) is not None

    def delete(self, name: str) -> None:
        self.bucket.delete(self._key(name))

    def delete_tree(self, prefix: str) -> None:
        self.bucket.delete_all(self._key(prefix))

    def delete_leftovers(self) -> None:
        """There are none: the parts of an upload that broke off are invisible, and the bucket's rules delete them."""

    def check_writable(self, *, exclusive: bool = True) -> None:
        """`exclusive` finds a store that ignores the condition: there, two attempts could take the same number."""
        probe = f".probe-{secrets.token_hex(8)}"
        try:
            again = self._probe(probe, exclusive)
        except EnvironmentFailure as failure:  # the name of the probe says nothing to a user
            raise EnvironmentFailure(str(failure).replace(f"/{probe}", "")) from failure
        if again:
            raise EnvironmentFailure(
                f"{self.location}: the store passes over `{self.CONDITION}`, by which an attempt takes its number"
            )

    def _probe(self, name: str, exclusive: bool) -> bool:
        """Write an object and delete it. With `exclusive`, returns whether two writers could create it."""
        self.delete(name)  # keys that may not delete would leave it behind
        again = False
        if exclusive:
            self.create(name, b".")
            again = self.create(name, b"..")
        else:
            self.write(name, [b"."])
        self.delete(name)
        return again

    def _key(self, name: str) -> str:
        return self._prefix + name

    def _objects(self, prefix: str = "") -> Sequence[Found]:
        """All objects under `prefix`, without the empty ones that consoles make for folders."""
        return [found for found in self.bucket.below(self._prefix + prefix) if not found.key.endswith("/")]

    def _identity(self, found: Found) -> Identity:
        """It contains the endpoint: the same name in another store is a different file."""
        place = f"{self.bucket.address}|{type(self.root)(self.root.bucket, found.key)}"
        return {"path": place, "etag": found.etag, "size": found.size}
