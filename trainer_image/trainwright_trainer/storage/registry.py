"""Which storage a place means: the kind of the place → its class. A new one is one file and one line."""

from __future__ import annotations

from pathlib import Path

from trainwright_trainer.storage.base import Storage
from trainwright_trainer.storage.local import FolderStorage
from trainwright_trainer.storage.s3client.credentials import S3Credentials, from_environment
from trainwright_trainer.storage.s3client.uri import place_of


def storage_at(place: str, access: S3Credentials | None = None, *, path: str = "output") -> Storage:
    """The storage at a folder or a URI. `access`: None as in the environment; `path`: what names the place in the job.

    Raises Mistakes for one that this version lacks.
    """
    found = place_of(place, path)
    if isinstance(found, Path):
        return FolderStorage(found)
    from trainwright_trainer.storage.s3 import S3Storage  # boto3 takes a while to import

    return S3Storage(found, access or from_environment())
