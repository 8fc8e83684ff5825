"""s3://bucket/key: a place in an object store. Like a path, it supports `/`."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from trainwright_api.problems import Mistakes
from trainwright_trainer.errors import not_built

SCHEME = "s3://"
_BUCKET = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{1,253}[A-Za-z0-9]")


@dataclass(frozen=True)
class S3Uri:
    """`key` neither starts nor ends with a slash; it is empty for the bucket itself."""

    bucket: str
    key: str

    def __str__(self) -> str:
        return f"{SCHEME}{self.bucket}/{self.key}".rstrip("/")

    def __truediv__(self, name: str) -> S3Uri:
        return S3Uri(self.bucket, f"{self.key}/{name}".strip("/"))

    @property
    def name(self) -> str:
        return PurePosixPath(self.key).name

    @property
    def suffix(self) -> str:
        return PurePosixPath(self.key).suffix

    @property
    def parent(self) -> S3Uri:
        return S3Uri(self.bucket, self.key.rpartition("/")[0])


def is_s3(place: str) -> bool:
    return place.startswith(SCHEME)


def parse(place: str, path: str) -> S3Uri:
    """The place that a URI names. Raises Mistakes with the path in the job, without text that may be a secret."""
    bucket, _, key = place.removeprefix(SCHEME).partition("/")
    if "@" in bucket or ":" in bucket:
        raise Mistakes.one(
            path, "keys and ports have no place in a URI: give them by AWS_… variables, as in s3://bucket"
        )
    if not _BUCKET.fullmatch(bucket):
        raise Mistakes.one(path, f"{place!r} names no bucket: expected s3://bucket/path, with 3 to 255 characters")
    return S3Uri(bucket, key.strip("/"))


Place = Path | S3Uri
"""A place on this machine or in a store. Both types support `/` and `str`."""


def place_of(text: str, path: str) -> Place:
    """The place that a path or a URI names. Raises Mistakes with the `path` in the job, also for unknown schemes."""
    if is_s3(text):
        return parse(text, path)
    if "\0" in text:
        raise Mistakes.one(path, f"{text!r} holds a null character, which no path can hold")
    scheme, found, _ = text.partition("://")
    if found and scheme != "file":
        raise not_built(path, f"{scheme}://", "folders and s3://")
    return Path(text.removeprefix("file://"))
