"""The files of an image column: paths relative to the data set's folder, absolute ones, and URIs of a store."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Sequence
from pathlib import Path

from trainwright_trainer.storage.base import Storage
from trainwright_trainer.storage.location import GcsUri, S3Uri, place_of
from trainwright_trainer.storage.registry import storage_of
from trainwright_trainer.storage.s3client.credentials import S3Credentials


class ImageFiles:
    """Reads the files of one column. `home`: the storage to which paths are relative.

    `digest` changes when a file changes; "" before the files are looked at.
    """

    def __init__(self, home: Storage, access: S3Credentials | None, path: str) -> None:
        """`path`: the path of the feature in the config."""
        self.home, self.digest = home, ""
        self._access, self._path = access, path
        self._stores: dict[str, Storage] = {}

    def read(self, name: str) -> bytes:
        """The content. Raises FileNotFoundError, and EnvironmentFailure if a file or a store cannot be read."""
        storage, inside = self._place(name)
        if not storage.is_remote and os.path.isdir(Path(str(storage.root)) / inside):
            raise FileNotFoundError(name)
        return storage.read(inside)

    def digest_of(self, names: Sequence[str]) -> bytes:
        """A digest of the identities of some files. It changes with the size, the time or the ETag of each of them."""
        found = hashlib.sha256()
        for storage, inside in self._grouped(names):
            for identity in storage.identities(inside):
                found.update(json.dumps(identity, sort_keys=True).encode())
        return found.digest()

    def _grouped(self, names: Sequence[str]) -> Sequence[tuple[Storage, list[str]]]:
        groups: dict[str, tuple[Storage, list[str]]] = {}
        for name in names:
            storage, inside = self._place(name)
            groups.setdefault(storage.location, (storage, []))[1].append(inside)
        return [groups[location] for location in sorted(groups)]

    def _place(self, name: str) -> tuple[Storage, str]:
        """The storage and the name in it. Raises Mistakes for an unknown scheme."""
        place = place_of(name, self._path)
        if isinstance(place, S3Uri | GcsUri):
            return self._store(type(place)(place.bucket, "")), place.key
        if place.is_absolute():
            return self._store(Path(place.anchor)), str(place.relative_to(place.anchor))
        return self.home, str(place)

    def _store(self, root: Path | S3Uri | GcsUri) -> Storage:
        key = str(root)
        if key not in self._stores:
            self._stores[key] = storage_of(root, self._access)
        return self._stores[key]
