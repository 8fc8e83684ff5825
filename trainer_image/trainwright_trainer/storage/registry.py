"""Choose the storage class for a folder or a URI. A new storage is one file and one line here."""

from __future__ import annotations

from pathlib import Path

from trainwright_api.locations import WEB
from trainwright_trainer.storage import gcs
from trainwright_trainer.storage.base import Storage
from trainwright_trainer.storage.fsspec_store import FsspecStorage
from trainwright_trainer.storage.local import FolderStorage
from trainwright_trainer.storage.location import DataPlace, DataUri, GcsUri, place_of
from trainwright_trainer.storage.s3client.credentials import S3Credentials, from_environment
from trainwright_trainer.storage.web import WebStorage


def storage_at(location: str, access: S3Credentials | None = None, *, path: str = "output") -> Storage:
    """The storage at a folder or a URI. Raises Mistakes for a scheme that this version lacks.

    `access`: the credentials; None takes them from the environment. `path`: the field of the job with the location.
    """
    return storage_of(place_of(location, path), access)


def storage_of(place: DataPlace, access: S3Credentials | None = None, *, private: bool = False) -> Storage:
    """The storage of a place. With `private`, other users of this machine cannot read its files."""
    if isinstance(place, Path):
        return FolderStorage(place, private=private)
    if isinstance(place, GcsUri):
        return gcs.GcsStorage(place)
    if isinstance(place, DataUri):
        return WebStorage(place) if place.scheme in WEB else FsspecStorage(place)
    from trainwright_trainer.storage.s3 import S3Storage  # boto3 takes a while to import

    return S3Storage(place, access or from_environment())
