"""The cache of preprocessing: small entries as JSON, columns as Parquet. A store holds an entry whole or not at all.

    sources/<key>.json       the hash of a raw file, valid while the file does not change
    rows/<key>.json          the number of rows of a content
    splits/<key>.parquet     the split part of every row
    statistics/<key>.json    one feature's statistics
    features/<key>.parquet   one encoded column, all rows in the order of the source

Two processes that write the same entry write the same bytes. An entry that cannot be read counts as absent.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

from trainwright_trainer.data import columnfile
from trainwright_trainer.data.cache_store import CacheStore, Fill
from trainwright_trainer.data.datafile import is_of_a_store, said_by
from trainwright_trainer.data.keys import digest
from trainwright_trainer.errors import EnvironmentFailure

FOLDER = ".trainwright_cache"


class Cache:
    """The entries in one cache store. A background thread writes the columns; `finish` waits for it."""

    def __init__(self, cache_store: CacheStore) -> None:
        self.cache_store = cache_store
        self._writer = ThreadPoolExecutor(1, thread_name_prefix="cache")
        self._pending: list[Future[None]] = []
        self._failure: str | None = None
        self._notices: list[str] = []

    def make(self) -> None:
        """Make the store. Raises `EnvironmentFailure` if it cannot be written."""
        self.cache_store.make()

    def read_json(self, kind: str, key: str) -> dict[str, Any] | None:
        """The entry; None if it is absent or damaged."""
        name = f"{kind}/{key}.json"
        try:
            found = json.loads(self.cache_store.read(name))
            if found["digest"] == digest(found["entry"]):
                return dict(found["entry"])
        except FileNotFoundError:
            return None
        except (OSError, ValueError, KeyError, TypeError):
            pass
        self._damaged(name)
        return None

    def write_json(self, kind: str, key: str, entry: Mapping[str, Any]) -> None:
        """Write the entry before returning."""
        text = json.dumps({"digest": digest(entry), "entry": entry}, ensure_ascii=False)
        self._commit(f"{kind}/{key}.json", lambda file: _discard(file.write(text.encode())))

    def has_column(self, kind: str, key: str) -> bool:
        return self.cache_store.has(f"{kind}/{key}.parquet")

    def read_column(self, kind: str, key: str) -> columnfile.Column | None:
        """The column and its notices; None if absent or damaged. Raises EnvironmentFailure if an object store fails."""
        name = f"{kind}/{key}.parquet"
        try:
            with self.cache_store.open(name) as file:
                return columnfile.read(file)
        except FileNotFoundError:
            return None
        except OSError as error:
            if is_of_a_store(error):
                line = f"the cache entry {self._place(name)} cannot be read ({said_by(error)})"
                raise EnvironmentFailure(line) from error
        except ValueError:  # pa.ArrowInvalid is one
            pass
        self._damaged(name)
        return None

    def write_column(self, kind: str, key: str, column: columnfile.Column) -> None:
        """Write the column in the background."""
        task = self._writer.submit(self._commit, f"{kind}/{key}.parquet", lambda file: columnfile.write(file, column))
        self._pending.append(task)

    def finish(self) -> tuple[str, ...]:
        """Wait until all entries are written. Returns notices of the failures and damages, each of them once."""
        self._writer.shutdown(wait=True)
        for task in self._pending:
            task.result()
        self._pending.clear()
        notices = list(self.take_notices())
        if self._failure is not None:
            notices.append(
                f"the cache in {self.cache_store.location!r} could not be written ({self._failure}); "
                "the next run will preprocess again"
            )
        return tuple(notices)

    def take_notices(self) -> tuple[str, ...]:
        """The notices of damaged entries since the last call."""
        notices, self._notices = self._notices, []
        return tuple(notices)

    def _place(self, name: str) -> str:
        return repr(f"{self.cache_store.location}/{name}")

    def _damaged(self, name: str) -> None:
        notice = f"cache entry {self._place(name)} is damaged; it is made again"
        if notice not in self._notices:
            self._notices.append(notice)

    def _commit(self, name: str, fill: Fill) -> None:
        """Write the entry, unless an earlier write failed."""
        if self._failure is not None:
            return
        try:
            self.cache_store.commit(name, fill)
        except OSError as error:
            self._failure = str(error.strerror)
        except EnvironmentFailure as failure:
            self._failure = str(failure)


def _discard(_: int) -> None:
    """Discard the number of bytes, because a `Fill` returns None."""
