"""Counts the operator's writes over all its restarts, and crashes it at one of them."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field
from time import monotonic
from typing import Any, Literal

from testkit.api import NotReached
from testkit.proxy import request_info
from trainwright_operator.kube.client import Client, Json
from trainwright_operator.kube.connection import Connection


class Crash(BaseException):
    """The process is killed here. It is a BaseException, so `except Exception` does not catch it."""


@dataclass(frozen=True)
class Kill:
    """A crash at the n-th write, from 1: before it is sent, or after it takes effect and before the reply arrives."""

    write: int
    when: Literal["before", "after"]


@dataclass
class Writes:
    """`kills` happen one after the other; the count of writes continues over restarts."""

    kills: Sequence[Kill] = ()
    done: list[str] = field(default_factory=list)
    """Each write that was started, as in `patch trainingjobs/status flights`."""
    deaths: int = 0
    dead: bool = False
    last: float = field(default_factory=monotonic)

    def begin(self, method: str, path: str) -> Kill | None:
        info = request_info.read(method, path, {})
        if not info.is_write:
            return None
        self.last = monotonic()
        resource = f"{info.resource}/{info.subresource}".rstrip("/")
        self.done.append(f"{info.verb} {resource} {info.name}".rstrip())
        return next((kill for kill in self.kills if kill.write == len(self.done)), None)

    def die(self) -> None:
        self.dead = True
        raise Crash(f"killed at write {len(self.done)}: {self.done[-1] if self.done else 'none yet'}")

    def revive(self) -> None:
        self.deaths += 1
        self.dead = False

    async def quiet(self, seconds: float, within: float = 30.0) -> None:
        """Wait until nothing is written for `seconds`."""
        end = monotonic() + within
        while (left := self.last + seconds - monotonic()) > 0:
            if monotonic() > end:
                raise NotReached(f"it still writes after {within:g} s: {self.done[-5:]}")
            await asyncio.sleep(min(left, 0.1))


class MortalClient(Client):
    """The operator's own client. After a crash it sends nothing more, like a process that is gone."""

    def __init__(self, connection: Connection, writes: Writes, **options: Any) -> None:
        super().__init__(connection, **options)
        self._writes = writes

    async def request(self, method: str, path: str, **sending: Any) -> Json:
        if self._writes.dead:
            self._writes.die()
        kill = self._writes.begin(method, path)
        if kill is not None and kill.when == "before":
            self._writes.die()
        try:
            return await super().request(method, path, **sending)
        finally:
            if kill is not None:
                self._writes.die()
