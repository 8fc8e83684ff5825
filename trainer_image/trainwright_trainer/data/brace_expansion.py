"""Expand `{a,b}` in the name of a data set, as a shell does."""

from __future__ import annotations

import re

_BRACES = re.compile(r"\{([^{}]*,[^{}]*)\}")


def expanded(pattern: str) -> list[str]:
    """The names that a pattern stands for, in the order in which it lists them; only itself if it has no list."""
    found = _BRACES.search(pattern)
    if found is None:
        return [pattern]
    before, after = pattern[: found.start()], pattern[found.end() :]
    return [name for word in found[1].split(",") for name in expanded(f"{before}{word.strip()}{after}")]
