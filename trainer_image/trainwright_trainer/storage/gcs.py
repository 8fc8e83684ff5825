"""Storage under a prefix of a bucket of Google Cloud Storage.

Google's client lists, reads and writes whole objects; Arrow's own file system reads the objects that `open` returns.
"""

from __future__ import annotations

import os
from datetime import timedelta
from functools import cached_property
from typing import TYPE_CHECKING, Any

from trainwright_api.locations import GCS
from trainwright_api.problems import Mistakes
from trainwright_trainer.storage.bucket_storage import BucketStorage, ObjectBucket
from trainwright_trainer.storage.location import GcsUri
from trainwright_trainer.storage.retry_policy import RetryPolicy

if TYPE_CHECKING:
    from pyarrow import fs

EMULATOR = "STORAGE_EMULATOR_HOST"
"""The variable with the address of another server with Google's interface, which all of Google's clients read."""
_READ_RETRY = timedelta(seconds=100)


class GcsStorage(BucketStorage):
    """Storage in Google Cloud Storage, by the extra `gcs`, with the default credentials of the environment."""

    CONDITION = "ifGenerationMatch"

    def __init__(self, root: GcsUri, retry_policy: RetryPolicy | None = None) -> None:
        super().__init__(root, _bucket(root.bucket, retry_policy))

    def __reduce__(self) -> tuple[type[GcsStorage], tuple[GcsUri]]:
        """Clients cannot be pickled: another process makes its own."""
        return GcsStorage, (GcsUri(self.root.bucket, self.root.key),)

    @cached_property
    def _arrow(self) -> fs.GcsFileSystem:
        from pyarrow import fs

        return fs.GcsFileSystem(retry_time_limit=_READ_RETRY, **_arrow_options(os.environ.get(EMULATOR, "")))


def _bucket(name: str, retry_policy: RetryPolicy | None) -> ObjectBucket:
    try:
        from trainwright_trainer.storage.gcsclient.bucket import GcsBucket
    except ImportError as error:
        raise Mistakes.one("", f"{GCS} needs one more package: pip install 'trainwright[gcs]'") from error
    return GcsBucket(name, os.environ.get(EMULATOR, ""), retry_policy)


def _arrow_options(emulator: str) -> dict[str, Any]:
    if not emulator:
        return {}
    scheme, _, host = emulator.rpartition("://")
    return {"anonymous": True, "scheme": scheme or "http", "endpoint_override": host}
