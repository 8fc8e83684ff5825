"""The use of a cache by a run: a record of the entries that it reads, and the limit of the cache's size.

A record is the entry `uses/<key>.json`, one for each data set and preprocessing. It tells of which data set and feature
the other entries are, and when they were last used.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from trainwright_trainer.data.cache import Cache
from trainwright_trainer.data.cache_entries import USES, Entry, entries_of, least_recently_used
from trainwright_trainer.errors import EnvironmentFailure

IN_USE_SECONDS = 3_600.0
"""Entries that a run has used within this time are not evicted, because it may read them again."""
_RENEW_SECONDS = 1_200.0
"""A run that reads its columns records this again after so long."""


@dataclass
class CacheUse:
    """The entries that a run uses: `features` has the feature of each, by name. `key` is that of all together."""

    cache: Cache
    key: str
    dataset: str
    rows: int
    features: Mapping[str, str | None]
    max_bytes: int | None
    clock: Callable[[], float] = time.time
    is_finished: bool = False
    recorded: float = float("-inf")
    """The time of the last record."""

    def finish(self) -> tuple[str, ...]:
        """Wait until all entries are written. Then, once, record the use and evict other entries. Returns notices."""
        notices = self.cache.finish()
        if self.is_finished:
            return notices
        self.is_finished = True
        self._record()
        return (*notices, *self._evict(self.max_bytes)) if self.max_bytes is not None else notices

    def add(self, entries: Mapping[str, str | None]) -> tuple[str, ...]:
        """Record the use of further entries, which are written already, and evict others. Returns notices."""
        self.features = {**self.features, **entries}
        self._record()
        return () if self.max_bytes is None else self._evict(self.max_bytes)

    def renew(self) -> None:
        """Record the use, unless that was done a short time ago. To be called when columns are read."""
        if self.clock() - self.recorded >= _RENEW_SECONDS:
            self._record()

    def _record(self) -> None:
        """A cache that may be read only has no record of this use, and no entry can be evicted from it."""
        self.recorded = self.clock()
        record = {
            "dataset": self.dataset,
            "rows": self.rows,
            "used": int(self.recorded),
            "entries": dict(self.features),
        }
        self.cache.try_to_write_json(USES, self.key, record)

    def _evict(self, max_bytes: int) -> tuple[str, ...]:
        try:
            entries = entries_of(self.cache)
            kept = {*self.features, f"{USES}/{self.key}.json"}
            evicted = least_recently_used(entries, max_bytes, kept, self.clock() - IN_USE_SECONDS)
            for entry in evicted:
                self.cache.storage.delete(entry.name)
        except EnvironmentFailure as failure:
            return (f"cache.maxBytes: no entry of the cache could be evicted ({failure})",)
        return self._notices(entries, evicted, max_bytes)

    def _notices(self, entries: list[Entry], evicted: list[Entry], max_bytes: int) -> tuple[str, ...]:
        before, gone = sum(entry.size for entry in entries), sum(entry.size for entry in evicted)
        if before <= max_bytes:
            return ()
        line = f"cache.maxBytes: the cache has {before:,} bytes, more than {max_bytes:,}"
        if evicted:
            number = "1 entry" if len(evicted) == 1 else f"{len(evicted):,} entries"
            line += f"; deleted {number} ({gone:,} bytes) used longest ago"
        if before - gone > max_bytes:
            line += "; the others are in use"
        return (line,)
