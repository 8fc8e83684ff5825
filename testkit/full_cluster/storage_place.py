"""Where a job keeps its data, its cache and its run: in a bucket, or on a claim."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from testkit.full_cluster import jobs
from testkit.full_cluster.bucket import Bucket
from testkit.full_cluster.volume import MOUNTED, Volume


@dataclass(frozen=True)
class Place:
    root: str
    """As a job writes it, before the names in it."""
    spec: Mapping[str, Any]
    """What a TrainingJob says to reach it."""
    put: Callable[[Path, str], str]
    """A file of this machine under a name. Answers how a job writes that."""
    content: Callable[[str], bytes]
    """By name."""

    def read(self, location: str) -> bytes:
        """What lies where a job says."""
        return self.content(location.removeprefix(self.root))


def in_bucket(bucket: Bucket) -> Place:
    return Place(bucket.uri(""), {"credentials": {"secretName": jobs.KEYS}}, bucket.upload, bucket.read)


def on_claim(volume: Volume) -> Place:
    return Place(f"{MOUNTED}/", {"podTemplate": volume.pod_template}, volume.put, volume.read)
