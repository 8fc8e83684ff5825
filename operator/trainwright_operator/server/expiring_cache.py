"""A bounded cache whose values expire."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Hashable
from typing import Generic, TypeVar

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")
MOST = 4096


class ExpiringCache(Generic[K, V]):
    """The newest `most` values, each for `seconds`."""

    def __init__(self, clock: Callable[[], float], seconds: float, most: int = MOST) -> None:
        self._clock, self._seconds, self._most = clock, seconds, most
        self._values: OrderedDict[K, tuple[float, V]] = OrderedDict()

    def __len__(self) -> int:
        return len(self._values)

    def get(self, key: K) -> V | None:
        until, value = self._values.get(key, (0.0, None))
        return value if self._clock() < until else None

    def put(self, key: K, value: V) -> None:
        self._values[key] = (self._clock() + self._seconds, value)
        self._values.move_to_end(key)
        while len(self._values) > self._most:
            self._values.popitem(last=False)
