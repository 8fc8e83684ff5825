"""Which shelf a cache lies on: the one that the job names, else one beside the data."""

from __future__ import annotations

from pathlib import Path

from trainwright_trainer.data.cache import FOLDER
from trainwright_trainer.data.cache_store import CacheStore, FolderCacheStore
from trainwright_trainer.storage.s3client.job_credentials import JobCredentials
from trainwright_trainer.storage.s3client.uri import Place, place_of


def cache_store_at(cache_dir: str | None, home: Place, keys: JobCredentials) -> CacheStore:
    """`home`: where the cache lies when no `cache_dir` is given. A cache beside data is opened by the data's keys.

    Raises Mistakes.
    """
    if cache_dir is None:
        place, access = home / FOLDER, keys.cache or keys.datasets
    else:
        place, access = place_of(cache_dir, "backend.cache_dir"), keys.cache
    if isinstance(place, Path):
        return FolderCacheStore(place)
    from trainwright_trainer.data.s3 import S3CacheStore  # boto3 takes a while to import

    return S3CacheStore(place, access)
