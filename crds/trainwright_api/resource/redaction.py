"""Removes secrets of known forms from log lines before they are stored.

This is a second protection; the first is that our own code prints no secrets. Secrets of other forms remain, for
example a bare password that the user's program prints.
"""

from __future__ import annotations

import re

from trainwright_api.resource.canonical import HIDDEN

_NAMES = "password|passwd|pwd|secret|token|credentials?|api[-_]?key|access[-_]?key(?:[-_]?id)?|signature|sig"

_SHAPES: tuple[tuple[re.Pattern[str], str], ...] = (
    # A private key. Its end can be truncated.
    (re.compile(r"-----BEGIN [A-Z ]*PRIVATE KEY-----.*?(?:-----END [A-Z ]*PRIVATE KEY-----|\Z)", re.DOTALL), HIDDEN),
    # https://user:password@host
    (re.compile(r"(?<=://)[^\s/@\"']+(?=@)"), HIDDEN),
    # Authorization: Basic …, and a bearer token anywhere.
    (re.compile(r"(?i)(authorization[\"']?\s*[:=]\s*[\"']?basic\s+)[\w+/=-]+"), rf"\1{HIDDEN}"),
    (re.compile(r"(?i)\b(bearer\s+)[\w.~+/=-]{8,}"), rf"\1{HIDDEN}"),
    # password=…, "aws_secret_access_key": "…", X-Amz-Signature=…
    (
        re.compile(
            rf"(?i)((?:{_NAMES})[\"']?\s{{0,4}}[=:]\s{{0,4}})(?!\(hidden\))(\"[^\"\n]*\"?|'[^'\n]*'?|[^\s\"',;&)\]}}]+)"
        ),
        rf"\1{HIDDEN}",
    ),
    # AWS key ids, JSON web tokens, and tokens with a known prefix, such as those of GitHub and Hugging Face.
    (re.compile(r"\b(?:AKIA|ASIA)[A-Z0-9]{16}\b"), HIDDEN),
    (re.compile(r"\beyJ[\w-]{8,}\.[\w-]{8,}\.[\w-]*"), HIDDEN),
    (re.compile(r"\b(?:gh[pousr]_|hf_|sk-|xox[abp]-)[A-Za-z0-9-]{16,}"), HIDDEN),
)


def redacted_text(text: str) -> str:
    """Return the text with "(hidden)" in place of every secret of a known form."""
    for shape, instead in _SHAPES:
        text = shape.sub(instead, text)
    return text
