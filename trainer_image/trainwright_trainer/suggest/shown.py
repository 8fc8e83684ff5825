"""Values and shares in the comments of a suggested job."""

from __future__ import annotations

_SHOWN_CHARACTERS = 30


def share(part: float) -> str:
    """A percentage: `47 %`, `0.3 %`."""
    return f"{100 * part:.2g} %" if part < 0.995 else "100 %" if part == 1 else "> 99 %"


def short(text: str) -> str:
    """The beginning of a text, on one line."""
    text = " ".join(text.split())
    return text if len(text) <= _SHOWN_CHARACTERS else f"{text[:_SHOWN_CHARACTERS]}…"
