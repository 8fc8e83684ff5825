"""JSON that is YAML too, whatever its texts hold.

The API server reads as YAML what is applied, and pods read their job so. YAML takes no pair of JSON's escapes for one
character, and does not take every character as it is.
"""

from __future__ import annotations

import json
import re
from typing import Any

# Not printable, or the end of a line: YAML 1.2.2, 5.1 and 5.4. Surrogates are halves of characters.
_ESCAPED = re.compile("[\x7f-\x9f\u2028\u2029\ud800-\udfff\ufeff\ufffe\uffff]")


def dumps(value: Any, *, indent: int | None = None) -> str:
    """On one line without spaces, or indented. Half a character becomes U+FFFD, as Go reads it."""
    separators = (",", ":") if indent is None else None
    return _ESCAPED.sub(_escape, json.dumps(value, indent=indent, separators=separators, ensure_ascii=False))


def _escape(found: re.Match[str]) -> str:
    code = ord(found[0])
    return f"\\u{0xFFFD if 0xD800 <= code <= 0xDFFF else code:04x}"
