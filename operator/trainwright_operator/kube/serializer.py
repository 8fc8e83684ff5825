"""The JSON of the API server: parse it at any nesting depth, and write it so that it is also valid YAML.

The API server accepts ten thousand levels, Python's parser about one thousand. One such object would break every list
that contains it, and with it the operator. Levels deeper than any valid job are cut off before the text is parsed.

The API server parses the body of a server-side apply as YAML, and pods parse their job as YAML. YAML does not combine
two JSON surrogate escapes into one character, and does not accept every character unescaped.
"""

from __future__ import annotations

import json
import re
from typing import Any

MAX_LEVELS = 200
"""The maximum depth. A valid job has at most 64; lists, watch events and reviews add a few around it."""
# Characters that are not printable or end a line (YAML 1.2.2, sections 5.1 and 5.4), and surrogates.
_ESCAPED = re.compile("[\x7f-\x9f\u2028\u2029\ud800-\udfff\ufeff\ufffe\uffff]")
_STRING_OR_BRACKET = re.compile(rb'"[^"\\]*(?:\\.[^"\\]*)*"|[\[\]{}]')


def loads(content: bytes) -> Any:
    """Parse the value, with null in place of parts that are nested too deeply. Raises ValueError for invalid JSON."""
    try:
        return json.loads(content)
    except RecursionError:
        return json.loads(cut(content))


def cut(content: bytes, levels: int = MAX_LEVELS) -> bytes:
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


def dumps(value: Any, *, indent: int | None = None) -> str:
    """Serialise on one line without spaces, or indented. A lone surrogate becomes U+FFFD, as in Go's JSON parser."""
    separators = (",", ":") if indent is None else None
    return _ESCAPED.sub(_escape, json.dumps(value, indent=indent, separators=separators, ensure_ascii=False))


def _escape(found: re.Match[str]) -> str:
    code = ord(found[0])
    return f"\\u{0xFFFD if 0xD800 <= code <= 0xDFFF else code:04x}"
