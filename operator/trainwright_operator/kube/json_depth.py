"""Parse JSON from the API server at any nesting depth.

The API server accepts ten thousand levels, Python's parser about one thousand. One such object would break every list
that contains it, and with it the operator. Levels deeper than any valid job are cut off before the text is parsed.
"""

from __future__ import annotations

import json
import re
from typing import Any

LEVELS = 200
"""The most nested levels. A valid job has at most 64; lists, watch events and reviews add a few around it."""
_STRING_OR_BRACKET = re.compile(rb'"[^"\\]*(?:\\.[^"\\]*)*"|[\[\]{}]')


def loads(content: bytes) -> Any:
    """Parse the value, with null in place of parts that are nested too deeply. Raises ValueError for invalid JSON."""
    try:
        return json.loads(content)
    except RecursionError:
        return json.loads(cut(content))


def cut(content: bytes, levels: int = LEVELS) -> bytes:
    """Return the text with null in place of every list or object that is nested deeper than `levels`."""
    parts: list[bytes] = []
    depth = kept = 0
    for found in _STRING_OR_BRACKET.finditer(content):
        if found[0] in (b"{", b"["):
            depth += 1
            if depth == levels + 1:
                parts += [content[kept : found.start()], b"null"]
        elif found[0] in (b"}", b"]"):
            if depth == levels + 1:
                kept = found.end()
            depth -= 1
    return b"".join([*parts, content[kept:]])
