"""Storage under a prefix of a bucket of S3.

boto3 lists, reads and writes whole objects; Arrow's own file system reads the objects that `open` returns.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any

from trainwright_trainer.storage.bucket_storage import BucketStorage
from trainwright_trainer.storage.location import S3Uri
from trainwright_trainer.storage.retry_policy import RetryPolicy
from trainwright_trainer.storage.s3client.bucket import Bucket
from trainwright_trainer.storage.s3client.client import arrow_options
from trainwright_trainer.storage.s3client.credentials import S3Credentials

if TYPE_CHECKING:
    from pyarrow import fs

# Arrow doubles its waits, from 25 ms on. With this number, the last try comes after 100 s.
_TRIES = 13


class S3Storage(BucketStorage):
    """Storage in S3, or in a store with its interface."""

    CONDITION = "If-None-Match"

    def __init__(self, root: S3Uri, access: S3Credentials, retry_policy: RetryPolicy | None = None) -> None:
        self._bucket = Bucket(root.bucket, access, retry_policy)
        self._made: tuple[dict[str, Any], fs.S3FileSystem] | None = None
        super().__init__(root, self._bucket)

    def __reduce__(self) -> tuple[type[S3Storage], tuple[S3Uri, S3Credentials]]:
        """Clients cannot be pickled: another process makes its own."""
        return S3Storage, (S3Uri(self.root.bucket, self.root.key), self._bucket.access)

    @property
    def _arrow(self) -> fs.S3FileSystem:
        """It is made again when boto3 has renewed the keys of a role: a file system keeps those that it began with."""
        options = arrow_options(self._bucket.access)
        if self._made is None or self._made[0] != options:
            self._made = options, self._file_system(options)
        return self._made[1]

    def _file_system(self, options: dict[str, Any]) -> fs.S3FileSystem:
        from pyarrow import fs

        patient = fs.AwsDefaultS3RetryStrategy(max_attempts=_TRIES)
        return fs.S3FileSystem(region=self._region, retry_strategy=patient, **options)

    @cached_property
    def _region(self) -> str:
        return self._bucket.region()
