"""The entries of a cache, with the data set, the feature and the last use of each, and the choice of old ones.

Only names of the forms that `Cache` writes are entries. Other files in the folder are neither shown nor deleted.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from trainwright_trainer.data import columnfile
from trainwright_trainer.data.cache import Cache
from trainwright_trainer.frames.pandas import in_threads
from trainwright_trainer.storage.base import ObjectFacts

USES = "uses"
READERS = 16
"""Entries that are read at the same time: a store answers a small request no faster than a hundred of them."""
_ENTRY = re.compile(r"((?:sources|rows|statistics|uses)/[0-9a-f]{64}\.json|(?:splits|features)/[0-9a-f]{64}\.parquet)")


@dataclass(frozen=True)
class Entry:
    """An entry. `used`: the time of its last use, in seconds since 1970; that of its change if no record names it.

    `dataset`, `feature` and `rows` are those of the last use; None if no record names the entry.
    """

    name: str
    size: int
    used: float
    dataset: str | None = None
    feature: str | None = None
    rows: int | None = None

    @property
    def is_column(self) -> bool:
        return self.name.endswith(".parquet")


def entries_of(cache: Cache) -> list[Entry]:
    """All entries, sorted by name. Raises EnvironmentFailure."""
    found = {facts.name: facts for facts in cache.storage.list_facts() if _ENTRY.fullmatch(facts.name)}
    names = [name for name in found if name.startswith(f"{USES}/")]
    records = in_threads(partial(_record, cache), names, READERS)
    entries = {name: Entry(name, facts.size, facts.changed) for name, facts in found.items()}
    for name, record in zip(names, records, strict=True):
        for use in _uses(name, record, found):
            known = entries[use.name]
            entries[use.name] = use if known.dataset is None or use.used >= known.used else known
    return [entries[name] for name in sorted(entries)]


def _record(cache: Cache, name: str) -> dict[str, Any] | None:
    return cache.read_json(USES, name.removeprefix(f"{USES}/").removesuffix(".json"))


def _uses(name: str, record: dict[str, Any] | None, found: Mapping[str, ObjectFacts]) -> Iterator[Entry]:
    """The entries of a record, and the record itself, as of their use. None: the record is damaged."""
    if record is not None:
        for used, feature in {**record["entries"], name: None}.items():
            if used in found:
                when = max(record["used"], found[used].changed)
                yield Entry(used, found[used].size, when, record["dataset"], feature, record["rows"])


def least_recently_used(
    entries: Sequence[Entry], max_bytes: int, kept: Collection[str] = (), until: float = float("inf")
) -> list[Entry]:
    """The entries to delete, so that at most `max_bytes` remain: those used longest ago first.

    Entries in `kept`, and those used after the time `until`, remain.
    """
    excess = sum(entry.size for entry in entries) - max_bytes
    chosen = []
    for entry in sorted(entries, key=lambda entry: (entry.used, entry.name)):
        if excess <= 0:
            break
        if entry.name not in kept and entry.used <= until:
            chosen.append(entry)
            excess -= entry.size
    return chosen


def is_intact(cache: Cache, entry: Entry) -> bool:
    """Read the whole entry, and compare its checksums. Raises EnvironmentFailure if an object store fails."""
    kind, _, file = entry.name.partition("/")
    key, _, ending = file.partition(".")
    if ending == "json":
        return cache.read_json(kind, key) is not None
    return cache.read_with(columnfile.read_through, kind, key) is not None
