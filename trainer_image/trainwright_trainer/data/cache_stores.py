"""Choose the cache store: the one that the job names, else one beside the data."""

from __future__ import annotations

from pathlib import Path

from trainwright_trainer.data.cache import FOLDER
from trainwright_trainer.data.cache_store import CacheStore, FolderCacheStore
from trainwright_trainer.storage.s3client.job_credentials import JobCredentials
from trainwright_trainer.storage.s3client.uri import Place, place_of


def cache_store_at(cache_dir: str | None, home: Place, keys: JobCredentials) -> CacheStore:
    """The cache store at `cache_dir`, else in the folder `FOLDER` of `home`. Raises Mistakes.

    A cache beside the data uses the keys of the data, unless the job has keys for the cache.
    """
    if cache_dir is None:
        place, access = home / FOLDER, keys.cache or keys.datasets
    else:
        place, access = place_of(cache_dir, "backend.cache_dir"), keys.cache
    if isinstance(place, Path):
        return FolderCacheStore(place)
    from trainwright_trainer.data.s3 import S3CacheStore  # boto3 takes a while to import

    return S3CacheStore(place, access)
