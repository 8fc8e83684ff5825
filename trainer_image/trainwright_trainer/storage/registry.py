"""Choose the storage class for a folder or a URI. A new storage is one file and one line here."""

from __future__ import annotations

from pathlib import Path

from trainwright_trainer.storage.base import Storage
from trainwright_trainer.storage.local import FolderStorage
from trainwright_trainer.storage.s3client.credentials import S3Credentials, from_environment
from trainwright_trainer.storage.s3client.uri import place_of


def storage_at(place: str, access: S3Credentials | None = None, *, path: str = "output") -> Storage:
    """The storage at a folder or a URI. Raises Mistakes for a scheme that this version lacks.

    `access`: the credentials; None takes them from the environment. `path`: the field of the job that names the place.
    """
    found = place_of(place, path)
    if isinstance(found, Path):
        return FolderStorage(found)
    from trainwright_trainer.storage.s3 import S3Storage  # boto3 takes a while to import

    return S3Storage(found, access or from_environment())
