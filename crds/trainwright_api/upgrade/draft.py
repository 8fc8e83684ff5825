"""A job as plain data that the rules of the upgrade edit, with the origin of every value that they move."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

from trainwright_api.paths import Key, Location, dotted
from trainwright_api.problems import Problem

Change = tuple[Location, str]
"""The location in the file of a changed value, and the end of the sentence about it."""


class Draft:
    """Plain data that is edited in place. It is a copy: the data of the file stay unchanged.

    `moved` has the new locations of moved values, and their locations in the file.
    """

    def __init__(self, data: Mapping[str, Any], moved: Mapping[Location, Location]) -> None:
        self.data: dict[str, Any] = _copied(data)
        self.moved = dict(moved)
        self.problems: list[Problem] = []
        self._changes: list[Change] = []

    def get(self, at: Location) -> Any:
        """Return the value at a location, or None if there is none."""
        value: Any = self.data
        for key in at:
            if isinstance(value, dict):
                value = value.get(key)
            elif isinstance(value, list) and isinstance(key, int) and key < len(value):
                value = value[key]
            else:
                return None
        return value

    def section(self, at: Location) -> dict[Any, Any]:
        """Return the keys and values at a location. It is empty if there are none."""
        value = self.get(at)
        return value if isinstance(value, dict) else {}

    def sections(self, at: Location) -> Iterator[Location]:
        """Yield the locations of the keys and values in a list, and in the lists within it."""
        value = self.get(at)
        for position, item in enumerate(value if isinstance(value, list) else []):
            if isinstance(item, dict):
                yield (*at, position)
            yield from self.sections((*at, position))

    def rename(self, at: Location, old: str, new: str) -> None:
        """Rename a key of the section at a location, if it has the key."""
        self.move((*at, old), (*at, new))

    def move(self, old: Location, new: Location) -> None:
        """Move a value, if there is one, and create the sections above its new location.

        A value that is given at both locations is a mistake. It stays where it is if no section can hold it.
        """
        if old[-1] not in self.section(old[:-1]):
            return
        if new[-1] in self.section(new[:-1]):
            name = str(new[-1]) if old[:-1] == new[:-1] else _short(new)
            self.refuse(old, f"the old spelling of {name}, which is given too: keep {name}")
        elif self._has_room(new[:-1]):
            self.note(old, f" is read as {_short(new)}")
            value, origin = self._take(old, new), self.origin(old)
            self._open(new[:-1])[new[-1]] = value
            self.moved = {(*new, *at[len(old) :]) if at[: len(old)] == old else at: to for at, to in self.moved.items()}
            self.moved[new] = origin

    def replace(self, at: Location, value: Any, said: str) -> None:
        """Replace a value, and note the change."""
        self.note(at, said)
        self.section(at[:-1])[at[-1]] = value

    def drop(self, at: Location, said: str) -> None:
        """Remove a value, if there is one, and note the change."""
        if at[-1] in self.section(at[:-1]):
            self.note(at, said)
            del self.section(at[:-1])[at[-1]]

    def as_section(self, at: Location) -> None:
        """Replace a word by the section `{type: word}`, without a note."""
        word = self.get(at)
        if isinstance(word, str):
            origin = self.origin(at)
            self.section(at[:-1])[at[-1]] = {"type": word}
            self.moved[*at, "type"] = origin

    def put(self, at: Location, value: Any, origin: Location) -> None:
        """Add a value that stands at `origin` in the file, without a note, if a section can hold it."""
        if self._has_room(at[:-1]):
            self._open(at[:-1])[at[-1]] = value
            self.moved[at] = origin

    def refuse(self, at: Location, message: str) -> None:
        """Remove a value that contradicts another one, and report the mistake."""
        self.problems.append(Problem(dotted(self.origin(at)), message))
        del self.section(at[:-1])[at[-1]]

    def note(self, at: Location, said: str) -> None:
        """Note a change, as the end of a sentence that begins with the location in the file."""
        self._changes.append((self.origin(at), said))

    def origin(self, at: Location) -> Location:
        """Return the location in the file of a location in the data."""
        return origin_of(at, self.moved)

    def notices(self) -> Iterator[str]:
        """Yield one line for each change. The same change in several items of a list is one line."""
        counts = Counter(map(_kind, self._changes))
        first = {_kind(change): change for change in reversed(self._changes)}
        for kind, number in counts.items():
            at, said = first[kind]
            yield f"{dotted(at)}{said}{f' ({number} times)' if number > 1 else ''}"

    def _has_room(self, at: Location) -> bool:
        """Return True if there are keys and values at a location, or can be."""
        for depth in range(1, len(at) + 1):
            value, below = self.get(at[:depth]), at[depth : depth + 1]
            is_item = isinstance(value, list) and below != () and isinstance(below[0], int)
            if not (value is None or isinstance(value, dict) or is_item):
                return False
        return True

    def _take(self, old: Location, new: Location) -> Any:
        """Remove a value. A key that is only renamed leaves its place in the order to the new one."""
        section = self.section(old[:-1])
        if old[:-1] != new[:-1]:
            return section.pop(old[-1])
        value = section[old[-1]]
        in_place = {new[-1] if key == old[-1] else key: item for key, item in section.items()}
        section.clear()
        section.update(in_place)
        return value

    def _open(self, at: Location) -> Any:
        """Return the section at a location, and create what is missing of it."""
        value: Any = self.data
        for key in at:
            if isinstance(value, dict) and value.get(key) is None:
                value[key] = {}
            value = value[key]
        return value


def origin_of(at: Location, moved: Mapping[Location, Location]) -> Location:
    """Return the location in the file of a location in the data, by the longest location in `moved` that it has."""
    for depth in range(len(at), 0, -1):
        if at[:depth] in moved:
            return (*moved[at[:depth]], *at[depth:])
    return at


def _short(at: Location) -> str:
    """Return the path below the innermost list, as for each item of the list."""
    lists = [depth for depth, key in enumerate(at) if isinstance(key, int)]
    return dotted(at[lists[-1] + 1 :] if lists else at)


def _kind(change: Change) -> tuple[tuple[Key | None, ...], str]:
    at, said = change
    return tuple(None if isinstance(key, int) else key for key in at), said


def _copied(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {key: _copied(item) for key, item in value.items()}
    return [_copied(item) for item in value] if isinstance(value, list) else value
