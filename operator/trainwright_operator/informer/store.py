"""What is known of one resource: the newest state of every object, never an older one over it.

A resourceVersion is a number that grows with every write of the cluster (a promise of Kubernetes 1.34 and later), so
events that come late, twice or out of order are told from new ones. Three marks do it: the version of each object; the
version of each deletion, so that a late event does not bring an object back; and the version of the last whole list,
which knows all that happened before it.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Container, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from trainwright_operator.model.observed import Manifest

log = logging.getLogger(__name__)

T = TypeVar("T")
Key = tuple[str, str]
"""Namespace ("" for what has none) and name."""

UNREADABLE = (ArithmeticError, AttributeError, LookupError, TypeError, ValueError)
"""What reading an object raises that a hand has made unreadable."""
GRAVES = 10_000
"""The most deletions that are remembered at a time."""


@dataclass(frozen=True, slots=True)
class Entry(Generic[T]):
    version: int
    uid: str
    owner: str
    value: T | None
    """None: there is an object, but not one of ours, or none that can be read."""


class Store(Generic[T]):
    """`read` makes of an object what is kept, `owner` what else it is found by; `on_change` is told old and new."""

    def __init__(
        self,
        read: Callable[[Manifest], T | None],
        owner: Callable[[T], str],
        on_change: Callable[[Key, T | None, T | None], None],
    ) -> None:
        self._read, self._owner, self._on_change = read, owner, on_change
        self._entries: dict[Key, Entry[T]] = {}
        self._owned: dict[str, set[Key]] = {}
        self._graves: dict[Key, int] = {}
        self._listed: dict[str | None, int] = {}

    def get(self, key: Key) -> T | None:
        entry = self._entries.get(key)
        return entry.value if entry is not None else None

    def items(self) -> Iterator[tuple[Key, T]]:
        return ((key, entry.value) for key, entry in self._entries.items() if entry.value is not None)

    def owned_by(self, owner: str) -> Iterator[tuple[Key, T]]:
        for key in sorted(self._owned.get(owner, ())):
            value = self.get(key)
            if value is not None:
                yield key, value

    def put(self, raw: Manifest) -> None:
        """An object as it is, or was: an older state than the known one changes nothing."""
        key, version = key_of(raw), version_of(raw)
        known = self._entries.get(key)
        if version > max(self._settled(key), known.version if known is not None else 0):
            self._set(key, self._entry(raw))

    def remove(self, raw: Manifest) -> None:
        """The last state of an object that has been deleted."""
        key, version = key_of(raw), version_of(raw)
        known = self._entries.get(key)
        if version <= self._settled(key) or (known is not None and version < known.version):
            return
        self._bury(key, version)
        self._set(key, None)

    def listed(self, objects: Iterable[Manifest]) -> dict[Key, Entry[T]]:
        """Part of a list, for `replace`."""
        return {key_of(raw): self._entry(raw) for raw in objects}

    def _entry(self, raw: Manifest) -> Entry[T]:
        """What is kept of an object; what is kept already, where it has not changed."""
        key, uid, version = key_of(raw), _uid(raw), version_of(raw)
        known = self._entries.get(key)
        if known is not None and (known.uid, known.version) == (uid, version):
            return known
        try:
            value = self._read(raw)
        except UNREADABLE as error:
            log.warning("%s %s/%s cannot be read and is left alone: %r", raw.get("kind"), *key, error)
            value = None
        return Entry(version, uid, self._owner(value) if value is not None else "", value)

    def replace(self, namespace: str | None, listed: Mapping[Key, Entry[T]], version: int) -> None:
        """All objects of a namespace (None: of all) as of `version`. What is newer than the list stays."""
        if version < self._listed.get(namespace, 0):
            log.warning("a list as of %s is older than the one before, and is left alone", version)
            return
        for key, entry in listed.items():
            known = self._entries.get(key)
            if entry.version > max(self._graves.get(key, 0), known.version if known is not None else 0):
                self._set(key, entry)
        for key in self._absent(namespace, listed, version):
            self._set(key, None)
        self._listed[namespace] = version
        self._graves = {key: grave for key, grave in self._graves.items() if grave > self._settled(key)}

    def retain(self, namespace: str | None, names: Container[Key], version: int) -> None:
        """Only these were there as of `version`. What is newer stays."""
        for key in self._absent(namespace, names, version):
            self._bury(key, version)
            self._set(key, None)

    def _absent(self, namespace: str | None, names: Container[Key], version: int) -> list[Key]:
        return [key for key, entry in self._within(namespace) if key not in names and entry.version <= version]

    def clear(self, namespace: str | None) -> None:
        """The API server does not know the resource (any more)."""
        for key in [key for key, _ in self._within(namespace)]:
            self._set(key, None)

    def _within(self, namespace: str | None) -> Iterator[tuple[Key, Entry[T]]]:
        return (item for item in self._entries.items() if namespace in (None, item[0][0]))

    def _settled(self, key: Key) -> int:
        """Events up to this version say nothing new about the key."""
        return max(self._listed.get(None, 0), self._listed.get(key[0], 0), self._graves.get(key, 0))

    def _bury(self, key: Key, version: int) -> None:
        self._graves.pop(key, None)
        self._graves[key] = version
        if len(self._graves) > GRAVES:
            del self._graves[next(iter(self._graves))]

    def _set(self, key: Key, entry: Entry[T] | None) -> None:
        known = self._entries.pop(key, None)
        if known is not None:
            self._disown(known.owner, key)
        if entry is not None:
            self._entries[key] = entry
            self._owned.setdefault(entry.owner, set()).add(key)
        self._tell(key, known, entry)

    def _disown(self, owner: str, key: Key) -> None:
        keys = self._owned[owner]
        keys.discard(key)
        if not keys:
            del self._owned[owner]

    def _tell(self, key: Key, old: Entry[T] | None, new: Entry[T] | None) -> None:
        before, after = old.value if old else None, new.value if new else None
        same_object = old is not None and new is not None and old.uid == new.uid
        if before != after or not (same_object or before is None):
            self._on_change(key, before, after)


def key_of(raw: Manifest) -> Key:
    metadata = _metadata(raw)
    return str(metadata.get("namespace") or ""), str(metadata.get("name") or "")


def version_of(raw: Manifest) -> int:
    """0, which is older than everything, for what has none."""
    text = str(_metadata(raw).get("resourceVersion") or "")
    return int(text) if text.isdecimal() else 0


def _uid(raw: Manifest) -> str:
    return str(_metadata(raw).get("uid") or "")


def _metadata(raw: Manifest) -> Mapping[str, Any]:
    metadata = raw.get("metadata")
    return metadata if isinstance(metadata, Mapping) else {}
