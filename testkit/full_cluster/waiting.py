"""Polls the state of a cluster."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")
SECONDS_BETWEEN_LOOKS = 0.5


def until(look: Callable[[], T], holds: Callable[[T], object] = bool, *, seconds: float = 60.0, what: str) -> T:
    """Poll until `holds` is true of the value, and return that value."""
    end = time.monotonic() + seconds
    while not holds(seen := look()):
        assert time.monotonic() < end, f"{what} did not come within {seconds:g} s; last seen: {seen}"
        time.sleep(SECONDS_BETWEEN_LOOKS)
    return seen
