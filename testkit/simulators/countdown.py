"""The time that objects stay in a state, counted from when they were first seen in it."""

from __future__ import annotations

import asyncio

from testkit.api import Manifest


class Countdown:
    def __init__(self) -> None:
        self._since: dict[tuple[str, str], float] = {}

    def left(self, item: Manifest, state: str, seconds: float) -> float:
        """Return the seconds until the object has been in the state for `seconds`. Negative after it."""
        now = asyncio.get_running_loop().time()
        return self._since.setdefault((item["metadata"]["uid"], state), now) + seconds - now

    def forget(self, item: Manifest) -> None:
        uid = item["metadata"]["uid"]
        self._since = {key: time for key, time in self._since.items() if key[0] != uid}
