"""Data sets and caches in an object store. boto3 lists and writes the objects; Arrow's own file system reads them."""

from __future__ import annotations

import io
import secrets
from collections.abc import Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import cached_property
from pathlib import PurePosixPath
from tempfile import SpooledTemporaryFile
from typing import IO, cast

import pyarrow as pa
from pyarrow import fs

from trainwright_trainer.data.cache_store import Fill
from trainwright_trainer.data.datafile import Identity
from trainwright_trainer.data.files import SIGNS, Files, absent, counts, fixed_part, one_of, suffix_of
from trainwright_trainer.errors import EnvironmentFailure
from trainwright_trainer.storage.s3client import credentials as ways
from trainwright_trainer.storage.s3client import uri
from trainwright_trainer.storage.s3client.bucket import Bucket, Found
from trainwright_trainer.storage.s3client.client import arrow_options
from trainwright_trainer.storage.s3client.credentials import S3Credentials
from trainwright_trainer.storage.s3client.uri import S3Uri

_READ_BYTES = 8 << 20
"""Bytes that a sequential reader fetches at once."""
_IN_MEMORY = 64 << 20
"""A larger cache entry is buffered on the local disk until it is uploaded."""
# Arrow doubles its waits, from 25 ms on. With this number, the last try comes after 100 s.
_TRIES = 13


class Store:
    """One bucket, for listing and reading."""

    def __init__(self, name: str, access: S3Credentials | None) -> None:
        self.bucket = Bucket(name, access or ways.from_environment())

    @cached_property
    def _arrow(self) -> fs.S3FileSystem:
        patient = fs.AwsDefaultS3RetryStrategy(max_attempts=_TRIES)
        options = arrow_options(self.bucket.access)
        return fs.S3FileSystem(region=self.bucket.region(), retry_strategy=patient, **options)

    def open(self, key: str) -> pa.NativeFile:
        """The object as an Arrow file. Raises FileNotFoundError if it is absent, and OSError if the store fails."""
        return self._arrow.open_input_file(f"{self.bucket.name}/{key}")

    def below(self, prefix: str) -> list[Found]:
        """All objects whose keys begin with `prefix`, without the empty ones that S3 consoles make for folders."""
        return [found for found in self.bucket.below(prefix) if found.key[-1] != "/"]

    def identity(self, found: Found) -> Identity:
        """The identity of an object. It contains the endpoint: the same name in another store is a different file."""
        place = f"{self.bucket.access.endpoint or ''}|{S3Uri(self.bucket.name, found.key)}"
        return {"path": place, "etag": found.etag, "size": found.size}


@dataclass(frozen=True)
class StoredFile:
    """One object of a data set."""

    store: Store
    key: str
    is_far = True

    def __str__(self) -> str:
        return str(S3Uri(self.store.bucket.name, self.key))

    @property
    def path(self) -> PurePosixPath:
        return PurePosixPath(self.key)

    def open(self) -> IO[bytes]:
        return cast(IO[bytes], io.BufferedReader(self.native(), _READ_BYTES))

    def native(self) -> pa.NativeFile:
        return self.store.open(self.key)


def find_in_store(dataset: str, access: S3Credentials | None) -> Files:
    """By the same rules as on a disk: an object, all below a prefix, or those that match a glob. Raises `Mistakes`."""
    place = uri.parse(dataset, "dataset")
    store = Store(place.bucket, access)
    if place.key and not dataset.endswith("/") and store.bucket.find(place.key) is not None:
        return _single(store, place)
    if any(sign in place.key for sign in SIGNS):
        return _fitting(dataset, store, place)
    folder = f"{place.key}/" if place.key else ""
    names = [name for name in _names(store, folder) if counts(PurePosixPath(name))]
    if not names and place.key:
        raise absent(dataset, place.name, _beside(store, place))
    return _many(place.name or place.bucket, place.parent, store, folder, names)


def _single(store: Store, place: S3Uri) -> Files:
    def look() -> list[Identity]:
        found = store.bucket.find(place.key)
        return [{} if found is None else store.identity(found)]

    file = StoredFile(store, place.key)
    return Files(place.name, place.parent, (place.name,), (file,), suffix_of(file.path), True, look)


def _fitting(dataset: str, store: Store, place: S3Uri) -> Files:
    fixed = str(fixed_part(PurePosixPath(place.key)))
    folder = "" if fixed == "." else f"{fixed}/"
    pattern = place.key.removeprefix(folder).split("/")
    names = [name for name in _names(store, folder) if _fits(name.split("/"), pattern)]
    return _many(dataset, S3Uri(place.bucket, folder.rstrip("/")), store, folder, names)


def _fits(parts: Sequence[str], pattern: Sequence[str]) -> bool:
    """Match as a shell does: `**` matches any number of folders, and a wildcard does not match a leading dot."""
    if not pattern:
        return not parts
    first, *rest = pattern
    if first == "**" and _fits(parts, rest):
        return True
    if not parts or (parts[0].startswith(".") and not first.startswith(".")):
        return False
    return _fits(parts[1:], pattern) if first == "**" else fnmatchcase(parts[0], first) and _fits(parts[1:], rest)


def _names(store: Store, folder: str) -> list[str]:
    return [found.key.removeprefix(folder) for found in store.below(folder)]


def _beside(store: Store, place: S3Uri) -> list[str]:
    """The names in the same folder, for the suggestion in the error message."""
    folder = f"{place.parent.key}/" if place.parent.key else ""
    return [name.rstrip("/") for name in store.bucket.names(folder)]


def _many(dataset: str, home: S3Uri, store: Store, folder: str, names: list[str]) -> Files:
    names = sorted(names)

    def look() -> list[Identity]:
        there = {found.key: store.identity(found) for found in store.below(folder)}
        return [there.get(folder + name, {}) for name in names]

    files = tuple(StoredFile(store, folder + name) for name in names)
    return Files(dataset, home, tuple(names), files, one_of(dataset, names), False, look)


class S3CacheStore:
    """A cache under a prefix. S3 writes an object whole or not at all."""

    def __init__(self, place: S3Uri, access: S3Credentials | None) -> None:
        self.location = str(place)
        self._place = place
        self._store = Store(place.bucket, access)

    def make(self) -> None:
        probe = self._key(f".probe-{secrets.token_hex(8)}")
        try:
            self._store.bucket.write(probe, [b"."])
            self._store.bucket.delete(probe)
        except EnvironmentFailure as failure:
            raise EnvironmentFailure(
                f"the cache cannot be written to {failure}. Set backend.cache_dir to a place that can be written."
            ) from failure

    def read(self, name: str) -> bytes:
        return self._store.bucket.read(self._key(name))

    def open(self, name: str) -> pa.NativeFile:
        return self._store.open(self._key(name))

    def has(self, name: str) -> bool:
        return self._store.bucket.find(self._key(name)) is not None

    def commit(self, name: str, fill: Fill) -> None:
        with SpooledTemporaryFile(_IN_MEMORY) as file:
            fill(cast(IO[bytes], file))
            file.seek(0)
            self._store.bucket.write(self._key(name), iter(lambda: file.read(_READ_BYTES), b""))

    def _key(self, name: str) -> str:
        return (self._place / name).key
