"""Objects in a bucket: whole reads and writes, each of them retried as `RetryPolicy` allows."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from typing import Any, TypeVar

from trainwright_trainer.errors import EnvironmentFailure
from trainwright_trainer.storage.bucket_storage import Found, create_once
from trainwright_trainer.storage.location import S3Uri
from trainwright_trainer.storage.retry_policy import RetryPolicy
from trainwright_trainer.storage.s3client import failures
from trainwright_trainer.storage.s3client.client import client_of
from trainwright_trainer.storage.s3client.credentials import S3Credentials
from trainwright_trainer.storage.s3client.upload import Chunk, MultipartUpload, parts

T = TypeVar("T")

_DELETED_AT_ONCE = 1_000


def _mark(about: Mapping[str, Any]) -> str:
    """The ETag. A gateway has none for a file that was not written through it; then the time of the last change."""
    return str(about.get("ETag") or about["LastModified"])


class Bucket:
    """A bucket. Every operation may raise EnvironmentFailure, with one line: the object and the store's message.

    It is safe to use from several threads.
    """

    def __init__(self, name: str, access: S3Credentials, retry_policy: RetryPolicy | None = None) -> None:
        self.name, self.access = name, access
        self._retry_policy = retry_policy or RetryPolicy()
        self._client = client_of(access)

    @property
    def address(self) -> str:
        """The address of the store; empty for Amazon's own."""
        return self.access.endpoint or ""

    def region(self) -> str:
        """The region of the bucket. boto3 follows the store's redirect to it; other clients need the name."""
        if self.access.region is not None:
            return self.access.region
        answer = self._ask("", lambda: self._client.head_bucket(Bucket=self.name))
        return str(answer.get("BucketRegion") or self._client.meta.region_name)

    def read(self, key: str) -> bytes:
        """The content of the object. Raises FileNotFoundError if there is no such object."""

        def read() -> bytes:
            return bytes(self._client.get_object(Bucket=self.name, Key=key)["Body"].read())

        found = self._ask_for(key, read)
        if found is None:
            raise FileNotFoundError(str(S3Uri(self.name, key)))
        return found

    def find(self, key: str) -> Found | None:
        """The object without its content; None if it does not exist."""

        def find() -> Found:
            about = self._about(key)
            if "LastModified" not in about:  # every store gives it
                raise failures.no_store("HeadObject")
            return Found(key, about["ContentLength"], _mark(about), about["LastModified"].timestamp())

        return self._ask_for(key, find)

    def _about(self, key: str) -> Any:
        try:
            return self._client.head_object(Bucket=self.name, Key=key)
        except failures.ERRORS as error:
            if failures.code_of(error) != "403":
                raise
        # The answer to HEAD has no body and so no reason. GET has one; the content is not read.
        return self._client.get_object(Bucket=self.name, Key=key)

    def write(self, key: str, chunks: Iterable[Chunk]) -> None:
        """Write the object. A reader sees the old or the new content, never a part, whatever the size."""
        pieces = parts(chunks)
        first, second = next(pieces), next(pieces, None)
        if second is None:
            self._ask(key, lambda: self._client.put_object(Bucket=self.name, Key=key, Body=first))
        else:
            upload = MultipartUpload(
                self._client, self.name, key, ask=partial(self._ask, key), exists=lambda: self.find(key) is not None
            )
            upload.write(itertools.chain((first, second), pieces))

    def create(self, key: str, data: bytes) -> bool:
        """Write the object if it does not exist. Only one of several writers succeeds; the others get False."""

        def create() -> bool:
            try:
                self._client.put_object(Bucket=self.name, Key=key, Body=data, IfNoneMatch="*")
            except failures.ERRORS as error:
                if not failures.is_taken(error):
                    raise
                return False
            return True

        return create_once(partial(self._ask, key), create, partial(self.read, key), data)

    def below(self, prefix: str) -> Iterator[Found]:
        """The objects whose keys begin with `prefix`."""
        for page in self._pages(prefix):
            for each in page.get("Contents", ()):
                yield Found(each["Key"], each["Size"], _mark(each), each["LastModified"].timestamp())

    def names(self, prefix: str) -> Iterator[str]:
        """The rest of each key after `prefix`, up to and including the next slash."""
        for page in self._pages(prefix, "/"):
            folders = [each["Prefix"] for each in page.get("CommonPrefixes", ())]
            keys = [each["Key"] for each in page.get("Contents", ())]
            yield from (key.removeprefix(prefix) for key in folders + keys)

    def delete(self, key: str) -> None:
        """Delete the object. An absent object is not an error."""
        self._ask(key, lambda: self._client.delete_object(Bucket=self.name, Key=key))

    def delete_all(self, prefix: str) -> None:
        """Delete every object whose key begins with `prefix`, in batches."""
        keys = (found.key for found in self.below(prefix))
        while batch := list(itertools.islice(keys, _DELETED_AT_ONCE)):
            self._ask(prefix, lambda: self._delete(batch))

    def _pages(self, prefix: str, delimiter: str = "") -> Iterator[Any]:
        more: dict[str, str] = {}
        while True:
            page = self._ask(prefix, lambda: self._page(prefix, delimiter, more))  # noqa: B023 (used at once)
            yield page
            if not page.get("IsTruncated"):
                return
            more = {"ContinuationToken": page["NextContinuationToken"]}

    def _page(self, prefix: str, delimiter: str, more: dict[str, str]) -> Any:
        return self._client.list_objects_v2(Bucket=self.name, Prefix=prefix, Delimiter=delimiter, **more)

    def _delete(self, keys: list[str]) -> None:
        wanted = {"Objects": [{"Key": key} for key in keys], "Quiet": True}
        answer = self._client.delete_objects(Bucket=self.name, Delete=wanted)
        for error in answer.get("Errors", ()):
            raise failures.refused(error, "DeleteObjects")

    def _ask(self, key: str, act: Callable[[], T]) -> T:
        """The result of `act`, which is retried as the retry policy allows. `key` is named in the failure."""
        place = str(S3Uri(self.name, key))

        def failure(error: Exception, seconds: float) -> Exception:
            found = failures.failure(place, error, self.access, seconds)
            return EnvironmentFailure(f"{found}{failures.like_bucket(self.name, error, self._buckets)}")

        return self._retry_policy.ask(act, failures.ERRORS, failures.is_passing, failure)

    def _buckets(self) -> list[str]:
        """The buckets of the account; none if the keys may not list them."""
        try:
            return [each["Name"] for each in self._client.list_buckets().get("Buckets", ())]
        except failures.ERRORS:
            return []

    def _ask_for(self, key: str, act: Callable[[], T]) -> T | None:
        """Like `_ask`, but returns None if the object is absent."""

        def answer() -> T | None:
            try:
                return act()
            except failures.ERRORS as error:
                if failures.is_absent(error):
                    return None
                raise

        return self._ask(key, answer)
