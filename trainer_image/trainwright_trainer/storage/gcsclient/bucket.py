"""Objects in a bucket of Google Cloud Storage: whole reads and writes, each retried as `RetryPolicy` allows."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import cache, partial
from tempfile import SpooledTemporaryFile
from typing import Any, TypeVar

from google.api_core.exceptions import NotFound, PreconditionFailed
from google.auth.exceptions import DefaultCredentialsError
from google.cloud import storage

from trainwright_trainer.storage.base import Chunk
from trainwright_trainer.storage.bucket_storage import Found, create_once
from trainwright_trainer.storage.gcsclient import failures
from trainwright_trainer.storage.location import GcsUri
from trainwright_trainer.storage.retry_policy import RetryPolicy

T = TypeVar("T")

# The client does not retry; `RetryPolicy` does. The times are those to connect and to answer, in seconds.
_PLAIN: dict[str, Any] = {"retry": None, "timeout": (10, 60)}
_IN_MEMORY = 64 << 20
"""A larger content is buffered on the local disk until it is written."""
_DELETED_AT_ONCE = 8


@cache
def _client_of(address: str) -> Any:  # noqa: ARG001 (the client reads it from the environment)
    """A client that is safe to use from several threads, with the default credentials. No request needs a project."""
    return storage.Client(project=None)


class GcsBucket:
    """See `ObjectBucket`. `address` is that of an emulator, or empty."""

    def __init__(self, name: str, address: str, retry_policy: RetryPolicy | None = None) -> None:
        self.name, self.address = name, address
        self._retry_policy = retry_policy or RetryPolicy()
        try:
            self._client = _client_of(address)
        except DefaultCredentialsError as error:
            raise failures.failure(str(GcsUri(name, "")), error, address) from error
        self._bucket = self._client.bucket(name)

    def read(self, key: str) -> bytes:
        def read() -> bytes | None:
            try:
                return bytes(self._bucket.blob(key).download_as_bytes(**_PLAIN))
            except NotFound:
                return None

        found = self._ask(key, read)
        if found is None:
            raise FileNotFoundError(str(GcsUri(self.name, key)))
        return found

    def find(self, key: str) -> Found | None:
        blob = self._ask(key, lambda: self._bucket.get_blob(key, **_PLAIN))
        return None if blob is None else _found(blob)

    def write(self, key: str, chunks: Iterable[Chunk]) -> None:
        with SpooledTemporaryFile(_IN_MEMORY) as file:
            size = sum(file.write(chunk) for chunk in chunks)

            def upload() -> None:
                file.seek(0)
                self._bucket.blob(key).upload_from_file(file, size=size, **_PLAIN)

            self._ask(key, upload)

    def create(self, key: str, data: bytes) -> bool:
        def create() -> bool:
            try:
                blob = self._bucket.blob(key)
                blob.upload_from_string(data, "application/octet-stream", if_generation_match=0, **_PLAIN)
            except PreconditionFailed:
                return False
            return True

        return create_once(partial(self._ask, key), create, partial(self.read, key), data)

    def below(self, prefix: str) -> Iterator[Found]:
        for blobs, _ in self._pages(prefix):
            yield from map(_found, blobs)

    def names(self, prefix: str) -> Iterator[str]:
        for blobs, folders in self._pages(prefix, "/"):
            yield from (name.removeprefix(prefix) for name in (*folders, *(blob.name for blob in blobs)))

    def delete(self, key: str) -> None:
        def delete() -> None:
            try:
                self._bucket.blob(key).delete(**_PLAIN)
            except NotFound:
                return

        self._ask(key, delete)

    def delete_all(self, prefix: str) -> None:
        with ThreadPoolExecutor(_DELETED_AT_ONCE, thread_name_prefix="delete") as pool:
            for deleted in [pool.submit(self.delete, found.key) for found in self.below(prefix)]:
                deleted.result()

    def _pages(self, prefix: str, delimiter: str | None = None) -> Iterator[tuple[list[Any], list[str]]]:
        """The objects of each page of a listing, and the folders below `prefix`."""
        token: str | None = None
        while True:
            blobs, folders, token = self._ask(prefix, partial(self._page, prefix, delimiter, token))
            yield blobs, folders
            if token is None:
                return

    def _page(self, prefix: str, delimiter: str | None, token: str | None) -> tuple[list[Any], list[str], str | None]:
        listing = self._client.list_blobs(self.name, prefix=prefix, delimiter=delimiter, page_token=token, **_PLAIN)
        blobs = list(next(listing.pages))
        return blobs, sorted(listing.prefixes), listing.next_page_token

    def _ask(self, key: str, act: Callable[[], T]) -> T:
        """The result of `act`, which is retried as the retry policy allows. `key` is named in the failure."""
        place = str(GcsUri(self.name, key))

        def failure(error: Exception, seconds: float) -> Exception:
            return failures.failure(place, error, self.address, seconds)

        return self._retry_policy.ask(act, failures.ERRORS, failures.is_passing, failure)


def _found(blob: Any) -> Found:
    return Found(blob.name, blob.size, str(blob.generation), blob.updated.timestamp())
