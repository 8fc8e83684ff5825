"""Write JSON that is also valid YAML, for any string values.

The API server parses the body of a server-side apply as YAML, and pods parse their job as YAML. YAML does not combine
two JSON surrogate escapes into one character, and does not accept every character unescaped.
"""

from __future__ import annotations

import json
import re
from typing import Any

# Characters that are not printable or end a line (YAML 1.2.2, sections 5.1 and 5.4), and surrogates.
_ESCAPED = re.compile("[\x7f-\x9f\u2028\u2029\ud800-\udfff\ufeff\ufffe\uffff]")


def dumps(value: Any, *, indent: int | None = None) -> str:
    """Serialise on one line without spaces, or indented. A lone surrogate becomes U+FFFD, as in Go's JSON parser."""
    separators = (",", ":") if indent is None else None
    return _ESCAPED.sub(_escape, json.dumps(value, indent=indent, separators=separators, ensure_ascii=False))


def _escape(found: re.Match[str]) -> str:
    code = ord(found[0])
    return f"\\u{0xFFFD if 0xD800 <= code <= 0xDFFF else code:04x}"
