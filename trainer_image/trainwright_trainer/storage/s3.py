"""Storage under a prefix of a bucket. S3 writes an object whole or not at all, so nothing is renamed or synced.

boto3 lists, reads and writes whole objects; Arrow's own file system reads the objects that `open` returns.
"""

from __future__ import annotations

import io
import secrets
from collections.abc import Iterable, Sequence
from fnmatch import fnmatchcase
from functools import cached_property
from typing import IO, TYPE_CHECKING, cast

from trainwright_trainer.errors import EnvironmentFailure
from trainwright_trainer.storage.base import Chunk, Identity, ObjectFacts, Storage
from trainwright_trainer.storage.location import S3Uri
from trainwright_trainer.storage.s3client.bucket import Bucket, Found
from trainwright_trainer.storage.s3client.client import arrow_options
from trainwright_trainer.storage.s3client.credentials import S3Credentials
from trainwright_trainer.storage.s3client.retry_policy import RetryPolicy

if TYPE_CHECKING:
    import pyarrow as pa
    from pyarrow import fs

_READ_BYTES = 8 << 20
"""Bytes that a sequential reader fetches at once."""
# Arrow doubles its waits, from 25 ms on. With this number, the last try comes after 100 s.
_TRIES = 13


class S3Storage(Storage):
    """Storage under the prefix `root`. The prefix may be empty, but its bucket must exist."""

    is_remote = True

    def __init__(self, root: S3Uri, access: S3Credentials, retry_policy: RetryPolicy | None = None) -> None:
        self.root: S3Uri = root
        self._bucket = Bucket(root.bucket, access, retry_policy)
        self._prefix = f"{root.key}/" if root.key else ""

    def __reduce__(self) -> tuple[type[S3Storage], tuple[S3Uri, S3Credentials]]:
        """Clients cannot be pickled: another process makes its own."""
        return S3Storage, (self.root, self._bucket.access)

    def read(self, name: str) -> bytes:
        return self._bucket.read(self._key(name))

    @cached_property
    def _arrow(self) -> fs.S3FileSystem:
        from pyarrow import fs

        patient = fs.AwsDefaultS3RetryStrategy(max_attempts=_TRIES)
        options = arrow_options(self._bucket.access)
        return fs.S3FileSystem(region=self._bucket.region(), retry_strategy=patient, **options)

    def open(self, name: str) -> pa.NativeFile:
        return self._arrow.open_input_file(f"{self._bucket.name}/{self._key(name)}")

    def stream(self, name: str) -> IO[bytes]:
        return cast(IO[bytes], io.BufferedReader(self.open(name), _READ_BYTES))

    def write(self, name: str, chunks: Iterable[Chunk], *, durable: bool = True) -> None:  # noqa: ARG002 (always is)
        self._bucket.write(self._key(name), chunks)

    def create(self, name: str, data: bytes) -> bool:
        return self._bucket.create(self._key(name), data)

    def list(self, prefix: str = "") -> list[str]:
        # S3 consoles make an object with an empty name for an empty folder.
        return sorted(name for name in self._bucket.names(self._key(prefix)) if name and not name.startswith("."))

    def list_facts(self) -> Sequence[ObjectFacts]:
        return [
            ObjectFacts(found.key.removeprefix(self._prefix), found.size, found.changed) for found in self._objects()
        ]

    def match(self, pattern: str) -> Sequence[str]:
        parts = pattern.split("/")
        return [name for name in self.list_tree() if _matches(name.split("/"), parts)]

    def identities(self, names: Sequence[str]) -> Sequence[Identity]:
        """Many objects are listed together, because one request lists a thousand of them."""
        keys = [self._key(name) for name in names]
        objects = [self._bucket.find(key) for key in keys] if len(keys) == 1 else self._objects()
        found = {each.key: self._identity(each) for each in objects if each is not None}
        return [found.get(key, {}) for key in keys]

    def exists(self, name: str) -> bool:
        return self._bucket.find(self._key(name)) is not None

    def delete(self, name: str) -> None:
        self._bucket.delete(self._key(name))

    def delete_tree(self, prefix: str) -> None:
        self._bucket.delete_all(self._key(prefix))

    def delete_leftovers(self) -> None:
        """There are none: the parts of an upload that broke off are invisible, and the bucket's rules delete them."""

    def check_writable(self, *, exclusive: bool = True) -> None:
        """`exclusive` finds a store that ignores `If-None-Match`: there, two attempts could take the same number."""
        probe = f".probe-{secrets.token_hex(8)}"
        if not exclusive:
            self.write(probe, [b"."])
            self.delete(probe)
            return
        self.create(probe, b".")
        again = self.create(probe, b"..")
        self.delete(probe)
        if again:
            raise EnvironmentFailure(
                f"{self.location}: the store passes over `If-None-Match`, by which an attempt takes its number"
            )

    def _key(self, name: str) -> str:
        return self._prefix + name

    def _objects(self) -> Sequence[Found]:
        """All objects under the root, without the empty ones that S3 consoles make for folders."""
        return [found for found in self._bucket.below(self._prefix) if not found.key.endswith("/")]

    def _identity(self, found: Found) -> Identity:
        """It contains the endpoint: the same name in another store is a different file."""
        place = f"{self._bucket.access.endpoint or ''}|{S3Uri(self._bucket.name, found.key)}"
        return {"path": place, "etag": found.etag, "size": found.size}


def _matches(parts: Sequence[str], pattern: Sequence[str]) -> bool:
    """Match as a shell does: `**` matches any number of folders, and a wildcard does not match a leading dot."""
    if not pattern:
        return not parts
    first, *rest = pattern
    if first == "**" and _matches(parts, rest):
        return True
    if not parts or (parts[0].startswith(".") and not first.startswith(".")):
        return False
    return _matches(parts[1:], pattern) if first == "**" else fnmatchcase(parts[0], first) and _matches(parts[1:], rest)
