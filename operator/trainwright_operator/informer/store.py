"""The cached objects of one resource. An older state never replaces a newer one.

A resourceVersion is a number that grows with every write of the cluster (guaranteed since Kubernetes 1.34), so late,
repeated or reordered events can be recognized. Three versions are kept for this: that of each object; that of each
deletion, so that a late event does not restore a deleted object; and that of the last complete list, which includes
everything before it.
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
"""The namespace ("" for a cluster-scoped object) and the name."""

UNREADABLE = (ArithmeticError, AttributeError, LookupError, TypeError, ValueError)
"""The exceptions that an unreadable object raises."""
MAX_TOMBSTONES = 10_000
"""The maximum number of deletions that are remembered."""


@dataclass(frozen=True, slots=True)
class Entry(Generic[T]):
    version: int
    uid: str
    owner: str
    value: T | None
    """None: the object exists, but it is not one of the operator's, or it cannot be read."""


class Store(Generic[T]):
    """A cache of objects.

    `read` converts an object to the value that is kept. `owner` returns a second key to find it by. `on_change` is
    called with the key, the old value and the new one.
    """

    def __init__(
        self,
        read: Callable[[Manifest], T | None],
        owner: Callable[[T], str],
        on_change: Callable[[Key, T | None, T | None], None],
    ) -> None:
        self._read, self._owner, self._on_change = read, owner, on_change
        self._entries: dict[Key, Entry[T]] = {}
        self._owned: dict[str, set[Key]] = {}
        self._tombstones: dict[Key, int] = {}
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
        """Store an object. A state that is older than the known one is ignored."""
        key, version = key_of(raw), version_of(raw)
        known = self._entries.get(key)
        if version > max(self._settled(key), known.version if known is not None else 0):
            self._set(key, self._entry(raw))

    def remove(self, raw: Manifest) -> None:
        """Remove an object, given its last state."""
        key, version = key_of(raw), version_of(raw)
        known = self._entries.get(key)
        if version <= self._settled(key) or (known is not None and version < known.version):
            return
        self._add_tombstone(key, version)
        self._set(key, None)

    def listed(self, objects: Iterable[Manifest]) -> dict[Key, Entry[T]]:
        """Convert a part of a list, for `replace`."""
        return {key_of(raw): self._entry(raw) for raw in objects}

    def _entry(self, raw: Manifest) -> Entry[T]:
        """Return the entry of an object. An unchanged object keeps its entry."""
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
        """Store a complete list of a namespace (None: of all) as of `version`. Objects newer than the list stay."""
        if version < self._listed.get(namespace, 0):
            log.warning("a list as of %s is older than the one before, and is left alone", version)
            return
        for key, entry in listed.items():
            known = self._entries.get(key)
            if entry.version > max(self._tombstones.get(key, 0), known.version if known is not None else 0):
                self._set(key, entry)
        for key in self._absent(namespace, listed, version):
            self._set(key, None)
        self._listed[namespace] = version
        self._tombstones = {key: version for key, version in self._tombstones.items() if version > self._settled(key)}

    def retain(self, namespace: str | None, names: Container[Key], version: int) -> None:
        """Remove all objects except `names` as of `version`. Newer objects stay."""
        for key in self._absent(namespace, names, version):
            self._add_tombstone(key, version)
            self._set(key, None)

    def _absent(self, namespace: str | None, names: Container[Key], version: int) -> list[Key]:
        return [key for key, entry in self._within(namespace) if key not in names and entry.version <= version]

    def clear(self, namespace: str | None) -> None:
        """Remove all objects, because the API server does not know the resource (any more)."""
        for key in [key for key, _ in self._within(namespace)]:
            self._set(key, None)

    def _within(self, namespace: str | None) -> Iterator[tuple[Key, Entry[T]]]:
        return (item for item in self._entries.items() if namespace in (None, item[0][0]))

    def _settled(self, key: Key) -> int:
        """Return the version up to which events contain nothing new about the key."""
        return max(self._listed.get(None, 0), self._listed.get(key[0], 0), self._tombstones.get(key, 0))

    def _add_tombstone(self, key: Key, version: int) -> None:
        self._tombstones.pop(key, None)
        self._tombstones[key] = version
        if len(self._tombstones) > MAX_TOMBSTONES:
            del self._tombstones[next(iter(self._tombstones))]

    def _set(self, key: Key, entry: Entry[T] | None) -> None:
        known = self._entries.pop(key, None)
        if known is not None:
            self._remove_from_owner(known.owner, key)
        if entry is not None:
            self._entries[key] = entry
            self._owned.setdefault(entry.owner, set()).add(key)
        self._notify(key, known, entry)

    def _remove_from_owner(self, owner: str, key: Key) -> None:
        keys = self._owned[owner]
        keys.discard(key)
        if not keys:
            del self._owned[owner]

    def _notify(self, key: Key, old: Entry[T] | None, new: Entry[T] | None) -> None:
        before, after = old.value if old else None, new.value if new else None
        same_object = old is not None and new is not None and old.uid == new.uid
        if before != after or not (same_object or before is None):
            self._on_change(key, before, after)


def key_of(raw: Manifest) -> Key:
    metadata = _metadata(raw)
    return str(metadata.get("namespace") or ""), str(metadata.get("name") or "")


def version_of(raw: Manifest) -> int:
    """Return the resourceVersion, or 0, which is older than any other, for an object without one."""
    text = str(_metadata(raw).get("resourceVersion") or "")
    return int(text) if text.isdecimal() else 0


def _uid(raw: Manifest) -> str:
    return str(_metadata(raw).get("uid") or "")


def _metadata(raw: Manifest) -> Mapping[str, Any]:
    metadata = raw.get("metadata")
    return metadata if isinstance(metadata, Mapping) else {}
