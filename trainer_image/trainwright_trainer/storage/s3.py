"""Storage under a prefix of a bucket. S3 writes an object whole or not at all, so nothing is renamed or synced."""

from __future__ import annotations

import secrets
from collections.abc import Iterable

from trainwright_trainer.errors import EnvironmentFailure
from trainwright_trainer.storage.base import Chunk, Storage
from trainwright_trainer.storage.s3client.bucket import Bucket
from trainwright_trainer.storage.s3client.credentials import S3Credentials
from trainwright_trainer.storage.s3client.retry_policy import RetryPolicy
from trainwright_trainer.storage.s3client.uri import S3Uri


class S3Storage(Storage):
    """Storage under the prefix `root`. The prefix may be empty, but its bucket must exist."""

    def __init__(self, root: S3Uri, access: S3Credentials, retry_policy: RetryPolicy | None = None) -> None:
        self.root = root
        self.location = str(root)
        self._bucket = Bucket(root.bucket, access, retry_policy)
        self._prefix = f"{root.key}/" if root.key else ""

    def read(self, name: str) -> bytes:
        return self._bucket.read(self._key(name))

    def write(self, name: str, chunks: Iterable[Chunk], *, durable: bool = True) -> None:  # noqa: ARG002 (always is)
        self._bucket.write(self._key(name), chunks)

    def create(self, name: str, data: bytes) -> bool:
        return self._bucket.create(self._key(name), data)

    def list(self, prefix: str = "") -> list[str]:
        # S3 consoles make an object with an empty name for an empty folder.
        return sorted(name for name in self._bucket.names(self._key(prefix)) if name and not name.startswith("."))

    def exists(self, name: str) -> bool:
        return self._bucket.find(self._key(name)) is not None

    def delete(self, name: str) -> None:
        self._bucket.delete(self._key(name))

    def delete_tree(self, prefix: str) -> None:
        self._bucket.delete_all(self._key(prefix))

    def check_writable(self) -> None:
        """Also check that the store honours `If-None-Match`: without it, two attempts could take the same number."""
        probe = f".probe-{secrets.token_hex(8)}"
        self.create(probe, b".")
        again = self.create(probe, b"..")
        self.delete(probe)
        if again:
            raise EnvironmentFailure(
                f"{self.location}: the store passes over `If-None-Match`, by which an attempt takes its number"
            )

    def _key(self, name: str) -> str:
        return self._prefix + name
