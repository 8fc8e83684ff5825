"""The commands `cache ls`, `cache verify` and `cache prune`. Each returns the lines to print."""

from __future__ import annotations

import json
import os
import re
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from trainwright_api.problems import Mistakes
from trainwright_trainer.callbacks.formats import NOTHING, count
from trainwright_trainer.data.cache import FOLDER, Cache
from trainwright_trainer.data.cache_entries import READERS, Entry, entries_of, is_intact, least_recently_used
from trainwright_trainer.errors import EnvironmentFailure
from trainwright_trainer.frames.pandas import in_threads
from trainwright_trainer.storage.location import place_of
from trainwright_trainer.storage.registry import storage_of

_HEADINGS = ("data set", "feature", "rows", "bytes", "last used")
_TO_THE_RIGHT = (False, False, True, True, False)
_UNITS = {"": 1, "B": 1} | {
    f"{letter}{ending}": base**power
    for ending, letters, base in (("", "kMGT", 1000), ("B", "kMGT", 1000), ("i", "KMGT", 1024), ("iB", "KMGT", 1024))
    for power, letter in enumerate(letters, start=1)
}
_SECONDS = {"s": 1, "m": 60, "h": 3_600, "d": 86_400}


def cache_at(place: str | None) -> Cache:
    """The cache in a folder or a store; None: `FOLDER` of the working folder. Raises Mistakes if there is no folder."""
    found = place_of(place or FOLDER, "cache")
    if isinstance(found, Path) and not os.path.isdir(
        found
    ):  # `Path.is_dir` raises an error for a name that is too long
        beside = f"a job without backend.cache_dir has it beside its data, as in 'data/{FOLDER}'"
        raise Mistakes.one("cache", f"{str(found)!r} is no folder: name the folder or the URI of a cache; {beside}")
    if isinstance(found, Path) and os.path.isdir(found / FOLDER):
        raise Mistakes.one("cache", f"{str(found)!r} is no cache: name {str(found / FOLDER)!r}, which is in it")
    return Cache(storage_of(found, private=True))


def listed(cache: Cache, as_json: bool) -> Iterator[str]:
    """A table of the columns, and the size of all entries; with `as_json`, one object for each entry."""
    entries = entries_of(cache)
    if as_json:
        yield from map(_json, entries)
        return
    columns = sorted((entry for entry in entries if entry.is_column), key=_order)
    if columns:
        yield from _table([_HEADINGS, *(_cells(entry) for entry in columns)])
    yield f"{_total(entries)} in {cache.storage.location}"
    yield from cache.take_notices()


def verified(cache: Cache, as_json: bool) -> Iterator[str]:
    """A line for each damaged entry, and a summary. Raises EnvironmentFailure at the end if there is one."""
    entries = entries_of(cache)
    intact = in_threads(lambda entry: is_intact(cache, entry), entries, READERS)
    damaged = [entry for entry, whole in zip(entries, intact, strict=True) if not whole]
    for entry in damaged:
        yield _json(entry) if as_json else f"{entry.name} is damaged"
    if damaged:
        line = f"cache: {len(damaged):,} of {_number(entries)} damaged; a run that needs one makes it again"
        raise EnvironmentFailure(line)
    if not as_json:
        yield f"{_total(entries)} in {cache.storage.location}: all intact"


@dataclass(frozen=True)
class PruneOptions:
    """`older_than`: delete the entries last used earlier, in seconds. `max_bytes`: delete those used longest ago."""

    older_than: float | None = None
    max_bytes: int | None = None
    is_dry: bool = False


def pruned(cache: Cache, options: PruneOptions, as_json: bool, now: float | None = None) -> Iterator[str]:
    """Delete old entries, and the files of killed writers. Yields a summary, or an object for each entry."""
    entries = entries_of(cache)
    chosen = _old(entries, options, time.time() if now is None else now)
    if not options.is_dry:
        cache.storage.delete_leftovers()
        for entry in chosen:
            cache.storage.delete(entry.name)
    if as_json:
        yield from map(_json, chosen)
        return
    gone = set(chosen)
    verb = "would be deleted" if options.is_dry else "deleted"
    left = [entry for entry in entries if entry not in gone]
    yield f"{_total(chosen)} {verb}, {_total(left)} left in {cache.storage.location}"


def _old(entries: Sequence[Entry], options: PruneOptions, now: float) -> list[Entry]:
    found = []
    if options.older_than is not None:
        found = [entry for entry in entries if entry.used < now - options.older_than]
    if options.max_bytes is not None:
        gone = set(found)
        found += least_recently_used([entry for entry in entries if entry not in gone], options.max_bytes)
    return found


def bytes_of(text: str) -> int:
    """The number of bytes that a text such as `20000000`, `20GB` or `18Gi` means. Raises ValueError."""
    found = re.fullmatch(r"(\d{1,15}(?:\.\d{1,6})?)\s*([kKMGT]?i?B?)", text.strip())
    if found is None or found[2] not in _UNITS:
        raise ValueError(f"{text!r} is no size: write a number of bytes, or for example 20GB or 18Gi")
    return int(float(found[1]) * _UNITS[found[2]])


def seconds_of(text: str) -> float:
    """The seconds that a text such as `30d`, `12h`, `15m` or `90s` means. Raises ValueError."""
    found = re.fullmatch(r"(\d{1,9}(?:\.\d{1,6})?)\s*([smhd])", text.strip())
    if found is None:
        raise ValueError(f"{text!r} is no time: write for example 30d, 12h, 15m or 90s")
    return float(found[1]) * _SECONDS[found[2]]


def _order(entry: Entry) -> tuple[str, str, str]:
    return entry.dataset or "", entry.feature or "", entry.name


def _cells(entry: Entry) -> tuple[str, ...]:
    return (
        entry.dataset or NOTHING,
        entry.feature or ("the split" if entry.name.startswith("splits/") else NOTHING),
        NOTHING if entry.rows is None else count(entry.rows),
        count(entry.size),
        f"{datetime.fromtimestamp(entry.used, UTC):%Y-%m-%d %H:%M} UTC",
    )


def _table(rows: Sequence[Sequence[str]]) -> Iterator[str]:
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        cells = zip(row, widths, _TO_THE_RIGHT, strict=True)
        yield "   ".join(cell.rjust(width) if right else cell.ljust(width) for cell, width, right in cells).rstrip()


def _total(entries: Sequence[Entry]) -> str:
    return f"{_number(entries)} ({count(sum(entry.size for entry in entries))} bytes)"


def _number(entries: Sequence[Entry]) -> str:
    return "1 entry" if len(entries) == 1 else f"{len(entries):,} entries"


def _json(entry: Entry) -> str:
    about = {"entry": entry.name, "dataset": entry.dataset, "feature": entry.feature, "rows": entry.rows}
    used = datetime.fromtimestamp(entry.used, UTC).isoformat(timespec="seconds")
    return json.dumps({**about, "bytes": entry.size, "lastUsed": used}, ensure_ascii=False)
