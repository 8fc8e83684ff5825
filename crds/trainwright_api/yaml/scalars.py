"""Resolves plain scalars by the core schema of YAML 1.2."""

from __future__ import annotations

import re

_NULL = re.compile(r"null|Null|NULL|~|")
_TRUE = re.compile(r"true|True|TRUE")
_FALSE = re.compile(r"false|False|FALSE")
_INT = re.compile(r"[-+]?[0-9]+")
_OTHER_BASE = re.compile(r"0o[0-7]+|0x[0-9a-fA-F]+")
_FLOAT = re.compile(r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?")
_NOT_FINITE = re.compile(r"[-+]?\.(inf|Inf|INF)|\.(nan|NaN|NAN)")
_BOOLEAN_OF_1_1 = re.compile(r"y|Y|yes|Yes|YES|n|N|no|No|NO|on|On|ON|off|Off|OFF")

Scalar = str | int | float | bool | None


def resolve(word: str) -> Scalar:
    """Return the value of a plain scalar. Raises ValueError with one line for an unusable number."""
    if _NULL.fullmatch(word):
        return None
    if _TRUE.fullmatch(word) or _FALSE.fullmatch(word):
        return word[0] in "tT"
    if _NOT_FINITE.fullmatch(word):
        raise ValueError(f"{word} is no finite number")
    if _INT.fullmatch(word):
        return _integer(word, 10)
    if _OTHER_BASE.fullmatch(word):
        return _integer(word, 0)
    return _float(word) if _FLOAT.fullmatch(word) else joined(word)


def is_boolean_elsewhere(word: str) -> bool:
    """Return True if YAML 1.1, and so kubectl, reads this word as a boolean. We read it as a string."""
    return _BOOLEAN_OF_1_1.fullmatch(word) is not None


def joined(text: str) -> str:
    """Join surrogate pairs: JSON escapes a character above 16 bits as two surrogates, which YAML does not combine."""
    try:
        return text if text.isascii() else text.encode("utf-16", "surrogatepass").decode("utf-16")
    except UnicodeDecodeError:
        raise ValueError("half of a character: an escape \\ud8… without its second half") from None


def _integer(word: str, base: int) -> int:
    # Check the length first: Python refuses to parse thousands of digits.
    if len(word) > 40 or abs(number := int(word, base)) >= 2**63:
        raise ValueError(f"{_cut(word)} is too large: whole numbers have 64 bits")
    return number


def _float(word: str) -> float:
    number = float(word)
    if abs(number) == float("inf"):
        raise ValueError(f"{_cut(word)} is too large for a number")
    return number


def _cut(word: str) -> str:
    return word if len(word) <= 24 else f"{word[:24]}…"
