"""The cache of preprocessing: small entries as JSON, columns as Parquet. An entry is complete or absent.

    sources/<key>.json       the hash of a raw file, valid while the file does not change
    rows/<key>.json          the number of rows of a content
    splits/<key>.parquet     the split part of every row
    statistics/<key>.json    one feature's statistics
    features/<key>.parquet   one encoded column, all rows in the order of the source
    uses/<key>.json          a data set and the entries that a run of it uses, with the time of the last run

Two processes that write the same entry write the same bytes, but for `uses`. An entry that cannot be read counts as
absent.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from typing import IO, Any, TypeVar

import pyarrow as pa

from trainwright_trainer.data import columnfile
from trainwright_trainer.data.column_entries import GrowingColumn, StoredColumn, unreadable
from trainwright_trainer.data.datafile import is_of_a_store, reason_of
from trainwright_trainer.data.keys import digest
from trainwright_trainer.errors import EnvironmentFailure
from trainwright_trainer.storage.base import Fill, Storage
from trainwright_trainer.storage.location import Place, place_of
from trainwright_trainer.storage.registry import storage_of
from trainwright_trainer.storage.s3client.job_credentials import JobCredentials

FOLDER = ".trainwright_cache"
Found = TypeVar("Found")


def cache_at(cache_dir: str | None, home: Place, keys: JobCredentials) -> Cache:
    """The cache at `cache_dir`, else in the folder `FOLDER` of `home`. Raises Mistakes.

    A cache beside the data uses the keys of the data, unless the job has keys for the cache.
    """
    if cache_dir is None:
        place, access = home / FOLDER, keys.cache or keys.datasets
    else:
        place, access = place_of(cache_dir, "backend.cache_dir"), keys.cache
    return Cache(storage_of(place, access, private=True))


class Cache:
    """The entries in one storage. Background threads write them; `finish` waits for all."""

    def __init__(self, storage: Storage) -> None:
        self.storage = storage
        self._writer = ThreadPoolExecutor(storage.readers(1), thread_name_prefix="cache")
        self._pending: list[Future[None]] = []
        self.failure: str | None = None
        """A failure of a write. No further write begins after it."""
        self._notices: list[str] = []

    def make(self) -> None:
        """Check that the storage can be written, and delete what killed writers left. Raises `EnvironmentFailure`."""
        try:
            self.storage.check_writable(exclusive=False)
            self.storage.delete_leftovers()
        except EnvironmentFailure as failure:
            raise EnvironmentFailure(
                f"the cache cannot be written to {failure}. Set backend.cache_dir to a place that can be written."
            ) from failure

    def read_json(self, kind: str, key: str) -> dict[str, Any] | None:
        """The entry; None if it is absent or damaged."""
        name = f"{kind}/{key}.json"
        try:
            found = json.loads(self.storage.read(name))
            if found["digest"] == digest(found["entry"]):
                return dict(found["entry"])
        except FileNotFoundError:
            return None
        except EnvironmentFailure:
            if self.storage.is_remote:
                raise
        except (ValueError, KeyError, TypeError):
            pass
        self._damaged(name)
        return None

    def write_json(self, kind: str, key: str, entry: Mapping[str, Any]) -> None:
        """Write the entry in the background."""
        self._begin(f"{kind}/{key}.json", _json_of(entry))

    def try_to_write_json(self, kind: str, key: str, entry: Mapping[str, Any]) -> None:
        """Write an entry that no run needs, before returning. A failure is of no consequence."""
        with suppress(EnvironmentFailure):
            self.storage.write_by(f"{kind}/{key}.json", _json_of(entry))

    def has_column(self, kind: str, key: str) -> bool:
        return self.storage.exists(f"{kind}/{key}.parquet")

    def read_column(self, kind: str, key: str) -> columnfile.Column | None:
        """The column and its notices; None if absent or damaged. Raises EnvironmentFailure if an object store fails."""
        return self.read_with(columnfile.read, kind, key)

    def stored_column(self, kind: str, key: str) -> StoredColumn | None:
        """The column, of which only the footer is read now; None if absent or damaged. Raises EnvironmentFailure."""
        facts = self.read_with(columnfile.facts, kind, key)
        name = f"{kind}/{key}.parquet"
        return None if facts is None else StoredColumn(self.storage, name, facts.null_count, facts.notices)

    def read_with(self, read: Callable[[pa.NativeFile], Found], kind: str, key: str) -> Found | None:
        """The result of `read` for a column's file; None if absent or damaged. Raises EnvironmentFailure."""
        name = f"{kind}/{key}.parquet"
        try:
            with self.storage.open(name) as file:
                return read(file)
        except FileNotFoundError:
            return None
        except OSError as error:
            if is_of_a_store(error):
                raise unreadable(self._place(name), reason_of(error)) from error
        except (ValueError, KeyError):  # pa.ArrowInvalid is one
            pass
        self._damaged(name)
        return None

    def begin_column(self, kind: str, key: str, type_: pa.DataType, *, nullable: bool) -> GrowingColumn:
        """A column that is written block by block. Raises EnvironmentFailure."""
        return GrowingColumn(self.storage, f"{kind}/{key}.parquet", type_, nullable=nullable)

    def write_column(self, kind: str, key: str, column: columnfile.Column) -> None:
        """Write the column in the background."""
        self._begin(f"{kind}/{key}.parquet", lambda file: columnfile.write(file, column))

    def finish(self) -> tuple[str, ...]:
        """Wait until all entries are written. Returns notices of the failures and damages, each of them once."""
        self._writer.shutdown(wait=True)
        for task in self._pending:
            task.result()
        self._pending.clear()
        notices = list(self.take_notices())
        if self.failure is not None:
            notices.append(
                f"the cache in {self.storage.location!r} could not be written ({self.failure}); "
                "the next run will preprocess again"
            )
        return tuple(notices)

    def take_notices(self) -> tuple[str, ...]:
        """The notices of damaged entries since the last call."""
        notices, self._notices = self._notices, []
        return tuple(notices)

    def _place(self, name: str) -> str:
        return repr(f"{self.storage.location}/{name}")

    def _damaged(self, name: str) -> None:
        notice = f"cache entry {self._place(name)} is damaged; it is made again"
        if notice not in self._notices:
            self._notices.append(notice)

    def _begin(self, name: str, fill: Fill) -> None:
        self._pending.append(self._writer.submit(self._commit, name, fill))

    def _commit(self, name: str, fill: Fill) -> None:
        """Write the entry, unless an earlier write failed."""
        if self.failure is not None:
            return
        try:
            self.storage.write_by(name, fill)
        except EnvironmentFailure as failure:
            self.failure = str(failure)


def _json_of(entry: Mapping[str, Any]) -> Fill:
    text = json.dumps({"digest": digest(entry), "entry": entry}, ensure_ascii=False)

    def fill(file: IO[bytes]) -> None:
        file.write(text.encode())

    return fill
