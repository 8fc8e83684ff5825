"""The policy for retries: a store may restart, and training waits for it."""

from __future__ import annotations

import random
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from threading import Event
from typing import TypeVar

T = TypeVar("T")

_CHANCE = random.Random()


def _print(line: str) -> None:
    print(line, file=sys.stderr, flush=True)


@dataclass(frozen=True)
class RetryPolicy:
    """Retry for `seconds` after the first failure, at growing intervals. After `silent` seconds, `tell` gets a line.

    Before the first answer to `ask` it gets the line at once, because an address may be mistyped.
    """

    seconds: float = 150.0
    silent: float = 3.0
    shortest: float = 0.2
    longest: float = 10.0
    clock: Callable[[], float] = time.monotonic
    sleep: Callable[[float], None] = time.sleep
    chance: Callable[[], float] = _CHANCE.random
    tell: Callable[[str], None] = _print
    _answered: Event = field(default_factory=Event, init=False, repr=False, compare=False)

    def begin(self) -> Waiting:
        return Waiting(self, self.silent if self._answered.is_set() else 0.0)

    def ask(
        self,
        act: Callable[[], T],
        errors: tuple[type[Exception], ...],
        is_passing: Callable[[Exception], bool],
        failure: Callable[[Exception, float], Exception],
    ) -> T:
        """The result of `act`, which is repeated after `errors` that are passing, until the time is over.

        Raises `failure(error, seconds)` with the last error and the seconds since the first one.
        """
        waiting = self.begin()
        while True:
            try:
                result = act()
                self._answered.set()
                return result
            except errors as error:
                why = partial(failure, error)
                if not is_passing(error) or not waiting.again(partial(why, 0.0)):
                    raise why(waiting.seconds) from error


class Waiting:
    """The failures of one request, of which a line tells after `silent` seconds."""

    def __init__(self, retry_policy: RetryPolicy, silent: float) -> None:
        self._retry_policy, self._silent = retry_policy, silent
        self._first: float | None = None
        self._delay = retry_policy.shortest
        self._reported = False

    @property
    def seconds(self) -> float:
        """Seconds since the first failure."""
        return 0.0 if self._first is None else self._retry_policy.clock() - self._first

    def again(self, why: Callable[[], object]) -> bool:
        """Call it after a failure. It sleeps and returns True, or returns False when the time is over.

        `why` returns the failure. Sleeps have random lengths, so that many workers do not retry at the same moment.
        """
        if self._first is None:
            self._first = self._retry_policy.clock()
        if self.seconds >= self._retry_policy.seconds:
            return False
        if self.seconds >= self._silent and not self._reported:
            self._reported = True
            self._retry_policy.tell(f"{why()}; it is asked again for {self._retry_policy.seconds:.0f} s in all")
        self._retry_policy.sleep(self._delay * (0.5 + self._retry_policy.chance() / 2))
        self._delay = min(2 * self._delay, self._retry_policy.longest)
        return True
