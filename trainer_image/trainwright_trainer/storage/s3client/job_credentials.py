"""The keys of a job to its data, its run folder and its cache. None means the keys of the environment."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import Any

from trainwright_api.resource.backend import Backend
from trainwright_trainer.storage.s3client.credentials import S3Credentials, from_keys

DATASETS, ARTIFACTS, CACHE = USES = ("datasets", "artifacts", "cache")
_DEFAULT = "default"


@dataclass(frozen=True)
class JobCredentials:
    """Safe to pass on and to print, because `S3Credentials` hides its keys."""

    datasets: S3Credentials | None = None
    artifacts: S3Credentials | None = None
    cache: S3Credentials | None = None


NO_KEYS = JobCredentials()


def keys_of(backend: Backend, stored: Collection[str] = USES) -> JobCredentials:
    """The keys in the backend section for the `USES` in `stored`, which lie in a store.

    Raises Mistakes; its messages contain no value.
    """
    given = _given(backend)
    chosen = {use: use if use in given else _DEFAULT for use in USES if use in stored}
    return JobCredentials(**{use: from_keys(*given[name]) for use, name in chosen.items() if name in given})


def idle_keys(backend: Backend, stored: Collection[str]) -> list[str]:
    """One notice for each entry of keys that no place in a store needs."""
    needed = {*stored, *((_DEFAULT,) if stored else ())}
    return [
        f"{path} is set aside: what it opens does not lie in S3"
        for name, (path, _) in _given(backend).items()
        if name not in needed
    ]


def _given(backend: Backend) -> dict[str, tuple[str, Any]]:
    """Map each use to its path in the job and its keys."""
    found = {
        name: (f"backend.credentials.{name}", value) for name, value in backend.credentials or () if value is not None
    }
    if backend.cache_credentials is not None:
        found[CACHE] = ("backend.cache_credentials", backend.cache_credentials)
    return found
