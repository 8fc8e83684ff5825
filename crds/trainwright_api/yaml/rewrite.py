"""Writes changed data into the text of a YAML file, with the comments, quotes and order of the file."""

from __future__ import annotations

import json
from collections.abc import Callable
from io import StringIO
from typing import Any

from ruamel.yaml import YAML
from ruamel.yaml.comments import CommentedMap, CommentedSeq
from ruamel.yaml.error import YAMLError
from ruamel.yaml.util import load_yaml_guess_indent

from trainwright_api.paths import Key, Location
from trainwright_api.problems import Mistakes
from trainwright_api.yaml.nodes import read

_MAX_WIDTH = 4096


def rewritten(text: str, data: Any, origin: Callable[[Location], Location]) -> tuple[str, bool]:
    """Return the text with `data` in place of its data, and True if its comments are kept.

    `origin` returns the location in the text of a location in `data`. JSON stays JSON, and has no comments.
    """
    if text.lstrip().startswith("{"):
        return json.dumps(data, indent=2, ensure_ascii=False) + "\n", True
    try:
        found = _with_comments(text, data, origin)
        if _same(read(found).data, data):
            return found, True
    except (YAMLError, Mistakes):
        pass  # ruamel.yaml cannot write every file that it reads
    return _dumped(data, YAML()), False


def dumped(data: Any) -> str:
    """Return plain data as YAML."""
    return _dumped(data, YAML())


def _with_comments(text: str, data: Any, origin: Callable[[Location], Location]) -> str:
    yaml = YAML()
    yaml.preserve_quotes = True
    tree, indent, offset = load_yaml_guess_indent(text, yaml=yaml)
    yaml.indent(mapping=2, sequence=indent or 2, offset=offset or 0)
    return _dumped(_Rewriter(tree, read(text).data, origin).node(data, ()), yaml)


def _dumped(tree: Any, yaml: YAML) -> str:
    yaml.width = _MAX_WIDTH
    stream = StringIO()
    yaml.dump(tree, stream)
    return stream.getvalue().rstrip("\n") + "\n"


class _Rewriter:
    """Builds the new tree from the nodes of the old one. `plain` is the data of the old tree."""

    def __init__(self, tree: Any, plain: Any, origin: Callable[[Location], Location]) -> None:
        self._tree = tree
        self._plain = plain
        self._origin = origin
        self._copied: set[Location] = set()

    def node(self, value: Any, at: Location) -> Any:
        """Return the node of a value. An unchanged value keeps its node, with all comments below it."""
        place = self._origin(at)
        old = _at(self._tree, place)
        if old is not None and _same(_at(self._plain, place), value):
            return old
        if not isinstance(value, dict | list):
            return value
        new = self._mapping(value, old, at) if isinstance(value, dict) else self._list(value, at)
        if type(old) is type(new):
            new.ca.comment, new.ca.end = old.ca.comment, old.ca.end
            if old.fa.flow_style():
                new.fa.set_flow_style()
        return new

    def _mapping(self, value: dict[str, Any], old: Any, at: Location) -> Any:
        new = CommentedMap()
        order = list(old) if isinstance(old, CommentedMap) else []
        for key in sorted(value, key=lambda key: _position(self._origin((*at, key))[-1], order)):
            self._copy_comment(new, key, self._origin((*at, key)))
            new[key] = self.node(value[key], (*at, key))
        return new

    def _list(self, value: list[Any], at: Location) -> Any:
        new = CommentedSeq()
        for position, item in enumerate(value):
            new.append(self.node(item, (*at, position)))
            self._copy_comment(new, position, self._origin((*at, position)))  # an append moves later comments
        return new

    def _copy_comment(self, new: Any, key: Key, place: Location) -> None:
        """Copy the comment of an item. Two values from one place, a word and its section, have one comment."""
        holder = _at(self._tree, place[:-1])
        if place not in self._copied and isinstance(holder, CommentedMap | CommentedSeq):
            self._copied.add(place)
            if place[-1] in holder.ca.items:
                new.ca.items[key] = holder.ca.items[place[-1]]


def _position(key: Key, order: list[Key]) -> int:
    return order.index(key) if key in order else len(order)


def _at(tree: Any, place: Location) -> Any:
    for key in place:
        try:
            tree = tree[key]
        except (KeyError, IndexError, TypeError):
            return None
    return tree


def _same(one: Any, other: Any) -> bool:
    """Return True if two values are equal and have the same types. The order of keys does not matter."""
    return json.dumps(one, sort_keys=True) == json.dumps(other, sort_keys=True)
