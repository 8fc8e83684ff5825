"""JSON that anybody may have stored, however deep it is nested.

The API server takes ten thousand levels, Python's parser about one thousand: one such object would end every list that
it stands in, and with it the operator. What lies deeper than any valid job is cut off before it is parsed.
"""

from __future__ import annotations

import json
import re
from typing import Any

LEVELS = 200
"""A valid job has at most 64; lists, watch events and reviews add a few around it."""
_STRING_OR_BRACKET = re.compile(rb'"[^"\\]*(?:\\.[^"\\]*)*"|[\[\]{}]')


def loads(content: bytes) -> Any:
    """The value; null stands for what was nested too deeply. Raises ValueError for what is no JSON."""
    try:
        return json.loads(content)
    except RecursionError:
        return json.loads(cut(content))


def cut(content: bytes, levels: int = LEVELS) -> bytes:
    """The same text, with null in the place of every list or object below so many others."""
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
