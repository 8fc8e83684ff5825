"""Secrets in lines of a log: the known shapes are taken out before a line is kept.

A net under the real protection, which is that nothing of ours prints a secret. What has none of these shapes stays: a
program that prints a bare password cannot be helped.
"""

from __future__ import annotations

import re

from trainwright_api.resource.canonical import HIDDEN

_NAMES = "password|passwd|pwd|secret|token|credentials?|api[-_]?key|access[-_]?key(?:[-_]?id)?|signature|sig"

_SHAPES: tuple[tuple[re.Pattern[str], str], ...] = (
    # A private key. Its end may have been cut off.
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
    # AWS's key ids, JSON web tokens, and the tokens of GitHub, Hugging Face, and others with a prefix of their own.
    (re.compile(r"\b(?:AKIA|ASIA)[A-Z0-9]{16}\b"), HIDDEN),
    (re.compile(r"\beyJ[\w-]{8,}\.[\w-]{8,}\.[\w-]*"), HIDDEN),
    (re.compile(r"\b(?:gh[pousr]_|hf_|sk-|xox[abp]-)[A-Za-z0-9-]{16,}"), HIDDEN),
)


def redacted_text(text: str) -> str:
    """The text with "(hidden)" in the place of every secret of a known shape."""
    for shape, instead in _SHAPES:
        text = shape.sub(instead, text)
    return text
