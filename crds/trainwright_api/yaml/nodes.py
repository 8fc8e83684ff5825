"""Parses the text of a YAML file into plain data by the rules of YAML 1.2.

ruamel.yaml parses the structure. This module resolves the scalars, so that `1e-4` is a number, `no` a string and a
date a string, for any directive in the file. Ambiguous or unsupported YAML is a `Problem` with its line.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from ruamel.yaml import YAML, events
from ruamel.yaml.error import MarkedYAMLError, YAMLError
from ruamel.yaml.reader import ReaderError

from trainwright_api.paths import Key, dotted
from trainwright_api.problems import Mistakes, Problem
from trainwright_api.yaml.scalars import Scalar, is_boolean_elsewhere, joined, resolve

MOST_NODES = 500_000
MOST_LEVELS = 64

_TAG = "tag:yaml.org,2002:"
_PLAIN_TAGS = frozenset(_TAG + word for word in ("int", "float", "bool", "null", "map", "seq"))

# Parts of ruamel.yaml's messages, and the messages that replace them.
_SYNTAX = (
    ("'\\t'", "a tab: YAML indents with spaces"),
    (
        "mapping values are not allowed",
        "a ':' where no key can stand: is the line indented too far, or a quote missing?",
    ),
    ("could not find expected ':'", "a key without its ':'"),
    ("expected <block end>", "this line does not fit the indentation of the lines above"),
    ("found unexpected end of stream", "a quote that is never closed"),
    ("'<stream end>'", "a bracket that is never closed"),
    ("undefined alias", "an alias (*name) without its anchor (&name)"),
)


@dataclass
class Document:
    """The data of a file, and notices about values that other YAML parsers read differently."""

    data: Any
    notices: list[str]


class _MergeKey(str):
    """An unquoted `<<`, which merges mappings where it is a key."""


@dataclass
class _Open:
    """A list or mapping that is not closed yet."""

    value: Any
    line: int
    anchor: str | None
    nodes: int
    key: Key | None = None
    lines: dict[str, int] = field(default_factory=dict)
    merged: list[Any] = field(default_factory=list)


def read(text: str) -> Document:
    """Parse the only document in `text`. Raises `Mistakes` with all mistakes."""
    reader = _Reader()
    try:
        for event in YAML(typ="safe", pure=True).parse(text):
            reader.take(event)
    except ReaderError as error:
        line = text.count("\n", 0, error.position) + 1
        raise Mistakes.one(
            "", f"line {line}: a character that no text file holds (code {ord(text[error.position])})"
        ) from None
    except MarkedYAMLError as error:
        raise Mistakes.one("", _syntax(error)) from None
    except YAMLError as error:
        raise Mistakes.one("", f"not YAML: {error}") from None
    if reader.problems:
        raise Mistakes(reader.problems)
    return Document(reader.root, reader.notices)


def _syntax(error: MarkedYAMLError) -> str:
    found = f"{error.problem or error.context or ''}"
    meaning = next((meaning for words, meaning in _SYNTAX if words in found), f"not YAML: {found}")
    marks = (error.problem_mark, error.context_mark)
    # ruamel.yaml detects an unclosed quote or bracket at the end of the file; users need the line where it opens.
    mark = next(filter(None, reversed(marks) if meaning.endswith("never closed") else marks), None)
    return f"line {mark.line + 1}: {meaning}" if mark else meaning


class _Reader:
    """Builds the data from ruamel.yaml's events without recursion: a file can nest deeper than Python's limit."""

    def __init__(self) -> None:
        self.root: Any = None
        self.problems: list[Problem] = []
        self.notices: list[str] = []
        self._stack: list[_Open] = []
        self._anchors: dict[str, tuple[Any, int]] = {}
        self._documents = 0

    def take(self, event: Any) -> None:
        """Process one event of the stream."""
        line = event.start_mark.line + 1
        if isinstance(event, events.DocumentStartEvent):
            self._documents += 1
        elif self._documents > 1:
            _refuse_more(event, line)
        elif isinstance(event, events.ScalarEvent):
            self._place(self._scalar(event, line), line, event.anchor)
        elif isinstance(event, events.AliasEvent):
            self._alias(event.anchor, line)
        elif isinstance(event, events.MappingStartEvent | events.SequenceStartEvent):
            self._open(event, line)
        elif isinstance(event, events.MappingEndEvent | events.SequenceEndEvent):
            self._close()

    def _open(self, event: Any, line: int) -> None:
        self._refuse_tag(event.tag, line)
        value: Any = {} if isinstance(event, events.MappingStartEvent) else []
        if len(self._stack) == MOST_LEVELS:
            raise Mistakes.one("", f"line {line}: nested more than {MOST_LEVELS} levels deep")
        self._stack.append(_Open(value, line, event.anchor, nodes=1))

    def _close(self) -> None:
        closed = self._stack.pop()
        for merged in closed.merged:
            closed.value = {**merged, **closed.value}
        self._place(closed.value, closed.line, closed.anchor, closed.nodes)

    def _alias(self, anchor: str, line: int) -> None:
        if any(level.anchor == anchor for level in self._stack):
            raise Mistakes.one(self._path(), f"line {line}: the alias *{anchor} stands within its own anchor")
        if anchor not in self._anchors:
            raise Mistakes.one(self._path(), f"line {line}: the alias *{anchor} has no anchor &{anchor} above it")
        value, nodes = self._anchors[anchor]
        self._place(value, line, None, nodes)

    def _place(self, value: Any, line: int, anchor: str | None, nodes: int = 1) -> None:
        if anchor:
            self._anchors[anchor] = (value, nodes)
        if not self._stack:
            self.root = value
            return
        level = self._stack[-1]
        level.nodes += nodes
        if level.nodes > MOST_NODES:
            raise Mistakes.one(self._path(), f"line {line}: more than {MOST_NODES:,} values, aliases counted")
        if isinstance(level.value, list):
            level.value.append(value)
        elif level.key is None:
            self._take_key(level, value, line)
        else:
            self._take_value(level, value, line)

    def _take_key(self, level: _Open, key: Any, line: int) -> None:
        if not isinstance(key, str):
            self._problem(line, f"the key {_written(key)} is no text: put it in quotes")
        elif key in level.lines:
            self._problem(line, f"the key stands here twice; first in line {level.lines[key]}", key)
        else:
            level.lines[key] = line
        level.key = key if isinstance(key, str) else _written(key)

    def _take_value(self, level: _Open, value: Any, line: int) -> None:
        key, level.key = level.key, None
        if isinstance(key, _MergeKey):
            self._merge(level, value, line)
        else:
            level.value[key] = value

    def _merge(self, level: _Open, value: Any, line: int) -> None:
        sources = value if isinstance(value, list) else [value]
        if all(isinstance(source, dict) for source in sources):
            level.merged.extend(sources)
        else:
            self._problem(line, "expected keys and values to merge", "<<")

    def _scalar(self, event: Any, line: int) -> Scalar:
        quoted = event.style is not None or event.tag in ("!", f"{_TAG}str")
        if not quoted:
            self._refuse_tag(event.tag, line)
            self._note_boolean(event.value, line)
            if event.value == "<<":
                return _MergeKey(event.value)
        try:
            return joined(event.value) if quoted else resolve(event.value)
        except ValueError as error:
            self._problem(line, str(error))
            return None

    def _note_boolean(self, word: str, line: int) -> None:
        if is_boolean_elsewhere(word):
            path = self._path()
            place = f"{path} (line {line})" if path else f"line {line}"
            self.notices.append(f"{place}: {word} is a word here, but kubectl reads a boolean: put it in quotes")

    def _refuse_tag(self, tag: str | None, line: int) -> None:
        if tag is not None and tag not in _PLAIN_TAGS:
            self._problem(line, f"the tag {tag.replace(_TAG, '!!')} means nothing here")

    def _problem(self, line: int, message: str, *below: str) -> None:
        self.problems.append(Problem(self._path(*below), f"line {line}: {message}"))

    def _path(self, *below: str) -> str:
        return dotted((*self._location(), *below))

    def _location(self) -> Iterator[Key]:
        for level in self._stack:
            if isinstance(level.value, list):
                yield len(level.value)
            elif level.key is not None:
                yield level.key


def _refuse_more(event: Any, line: int) -> None:
    """Refuse a second document, except an empty one after a last `---`."""
    if isinstance(event, events.NodeEvent) and getattr(event, "value", "-") != "":
        raise Mistakes.one("", f"line {line}: a second document begins; a file holds one job")


def _written(value: Any) -> str:
    words = {None: "null", True: "true", False: "false"}
    if value is None or isinstance(value, bool):
        return words[value]
    return "[…]" if isinstance(value, list) else "{…}" if isinstance(value, dict) else str(value)
