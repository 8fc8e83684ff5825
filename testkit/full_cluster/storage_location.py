"""The storage of a job's data, cache and run: a bucket, or a persistent volume claim."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from testkit.full_cluster import jobs
from testkit.full_cluster.bucket import Bucket
from testkit.full_cluster.volume import MOUNTED, Volume


@dataclass(frozen=True)
class StorageLocation:
    root: str
    """The prefix of the URIs or paths in a job."""
    spec: Mapping[str, Any]
    """The fields of a TrainingJob that give access to it."""
    put: Callable[[Path, str], str]
    """Store a local file under a name. Returns the path or URI that a job uses."""
    content: Callable[[str], bytes]
    """The content of the file with this name."""

    def read(self, location: str) -> bytes:
        """The content of the file at the path that a job gives."""
        return self.content(location.removeprefix(self.root))


def in_bucket(bucket: Bucket) -> StorageLocation:
    return StorageLocation(bucket.uri(""), {"credentials": {"secretName": jobs.KEYS}}, bucket.upload, bucket.read)


def on_claim(volume: Volume) -> StorageLocation:
    return StorageLocation(f"{MOUNTED}/", {"podTemplate": volume.pod_template}, volume.put, volume.read)
