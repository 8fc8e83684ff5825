"""Counts the operator's writes over all its restarts, and crashes it at one of them."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field
from time import monotonic
from typing import Any, Literal

from testkit.api import NotReached
from testkit.proxy import record
from trainwright_operator.kube.client import Client, Json
from trainwright_operator.kube.connection import Connection

STEP_SECONDS = 0.05


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
    crashes: int = 0
    dead: bool = False
    in_flight: int = 0
    """Requests of any kind, except watches, whose reply has not arrived."""

    def begin(self, method: str, path: str) -> Kill | None:
        info = record.read(method, path, {})
        if not info.is_write:
            return None
        resource = f"{info.resource}/{info.subresource}".rstrip("/")
        self.done.append(f"{info.verb} {resource} {info.name}".rstrip())
        return next((kill for kill in self.kills if kill.write == len(self.done)), None)

    def die(self) -> None:
        self.dead = True
        raise Crash(f"killed at write {len(self.done)}: {self.done[-1] if self.done else 'none yet'}")

    def revive(self) -> None:
        self.crashes += 1
        self.dead = False

    async def quiet(self, seconds: float, within: float = 30.0) -> None:
        """Wait until nothing is written for `seconds`, in short sleeps: a pause of a busy machine counts as one."""
        end, calm, before = monotonic() + within, 0.0, len(self.done)
        while calm < seconds:
            await asyncio.sleep(STEP_SECONDS)
            changed = self.in_flight or len(self.done) > before
            calm, before = 0.0 if changed else calm + STEP_SECONDS, len(self.done)
            if changed and monotonic() > end:
                raise NotReached(f"it still writes after {within:g} s: {self.done[-5:]}")


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
        self._writes.in_flight += 1
        try:
            return await super().request(method, path, **sending)
        finally:
            self._writes.in_flight -= 1
            if kill is not None:
                self._writes.die()
