"""Exponential backoff: the pauses between tries."""

from __future__ import annotations

from collections.abc import Iterator


class Pauses:
    """An infinite sequence of pauses in seconds that double up to a limit.

    Each iteration starts from `base`; `next` continues one shared iteration until `reset`.
    """

    def __init__(self, base: float, limit: float) -> None:
        self._base, self._limit = base, limit
        self._going = iter(self)

    def __iter__(self) -> Iterator[float]:
        pause = self._base
        while True:
            yield min(pause, self._limit)
            pause = min(2 * pause, self._limit)

    def next(self) -> float:
        return next(self._going)

    def reset(self) -> None:
        self._going = iter(self)
