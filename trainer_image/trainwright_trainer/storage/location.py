"""A place that a job names: a folder or a file of this machine, or a prefix or an object in a bucket."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path, PurePosixPath
from typing import ClassVar, Self
from urllib.parse import unquote

from trainwright_api.locations import GCS, S3, is_read_only, parse_bucket, parse_data_uri, scheme_of
from trainwright_api.problems import Mistakes
from trainwright_trainer.errors import not_built


@dataclass(frozen=True)
class BucketUri:
    """A place in an object store. Like a path, it supports `/`.

    `key` neither starts nor ends with a slash; it is empty for the bucket itself.
    """

    bucket: str
    key: str
    SCHEME: ClassVar[str]

    @classmethod
    def parse(cls, text: str, path: str) -> Self:
        """The place that a URI names. Raises Mistakes with the `path` in the job."""
        return cls(*parse_bucket(text, path))

    def __str__(self) -> str:
        return f"{self.SCHEME}{self.bucket}/{self.key}".rstrip("/")

    def __truediv__(self, name: str) -> Self:
        return replace(self, key=f"{self.key}/{name}".strip("/"))

    @property
    def name(self) -> str:
        return PurePosixPath(self.key).name

    @property
    def suffix(self) -> str:
        return PurePosixPath(self.key).suffix

    @property
    def parent(self) -> Self:
        return replace(self, key=self.key.rpartition("/")[0])


class S3Uri(BucketUri):
    """A place in S3."""

    SCHEME = S3


class GcsUri(BucketUri):
    """A place in Google Cloud Storage."""

    SCHEME = GCS


@dataclass(frozen=True)
class DataUri(BucketUri):
    """A place in a store from which data sets are read, and to which nothing is written.

    `bucket`: the host or the container. `query`: the rest of a URL, which may contain a key, so it is not shown.
    """

    scheme: str
    query: str = field(default="", repr=False)

    @classmethod
    def parse(cls, text: str, path: str) -> Self:
        bucket, key, query = parse_data_uri(text, path)
        return cls(bucket, key, scheme_of(text), query)

    def __str__(self) -> str:
        return f"{self.scheme}{self.bucket}/{self.key}".rstrip("/")

    @property
    def url(self) -> str:
        return f"{self}{self.query}"


Place = Path | S3Uri | GcsUri
"""A place on this machine or in a store. All types support `/` and `str`."""
DataPlace = Place | DataUri
"""A place of data sets."""
_STORES: Mapping[str, type[S3Uri | GcsUri]] = {S3: S3Uri, GCS: GcsUri}


def place_of(text: str, path: str) -> Place:
    """The place that a path or a URI names. `~` begins the home folder.

    Raises Mistakes with the `path` in the job, also for unknown schemes.
    """
    scheme = scheme_of(text)
    if scheme in _STORES:
        return _STORES[scheme].parse(text, path)
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise Mistakes.one(path, f"{text!r} is no text in UTF-8, as the files of a run are") from error
    if "\0" in text:
        raise Mistakes.one(path, f"{text!r} holds a null character, which no path can hold")
    if scheme and scheme != "file://":
        raise not_built(path, scheme, f"folders, {S3} and {GCS}")
    return _local(text.removeprefix("file://"), is_uri=bool(scheme))


def _local(text: str, *, is_uri: bool) -> Path:
    """The path of a text. A URI as `Path.as_uri` writes it has %20 for a space, and may name this machine."""
    literal = Path(os.path.expanduser(text.removeprefix("localhost") if is_uri else text))
    return Path(unquote(str(literal))) if is_uri and not literal.exists() else literal


def data_place_of(text: str, path: str) -> DataPlace:
    """Like `place_of`, for data sets, which stores may hold that are only read."""
    return DataUri.parse(text, path) if is_read_only(text) else place_of(text, path)


def located(place: DataPlace) -> str:
    """The place in the one form that all its spellings have."""
    return os.path.realpath(place) if isinstance(place, Path) else str(place)
