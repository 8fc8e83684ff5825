"""The operator as a real process behind a proxy: killed at chosen moments, each time followed by a new process."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, suppress
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Literal, Self

from testkit.api import NotReached
from testkit.cluster.cluster import Cluster
from testkit.control_plane.operator_process import OperatorProcess, operator
from testkit.harness import FAST
from testkit.proxy import Hang, Proxy, Rule

SECONDS_BETWEEN_LOOKS = 0.01
SECONDS_TO_STRIKE = 90.0
QUICK: Mapping[str, str] = {
    "TRAINWRIGHT_BACKOFF_BASE": str(FAST.backoff.base),
    "TRAINWRIGHT_BACKOFF_LIMIT": str(FAST.backoff.limit),
    "TRAINWRIGHT_STOP_GRACE": str(FAST.stop_grace),
    "TRAINWRIGHT_OVERLAP_GRACE": str(FAST.overlap_grace),
    "TRAINWRIGHT_RETRY_BASE": str(FAST.retry_base),
    "TRAINWRIGHT_RETRY_LIMIT": str(FAST.retry_limit),
    "TRAINWRIGHT_RESYNC": str(FAST.resync),
}


@dataclass(frozen=True)
class InAWrite:
    """A kill during its n-th write to the job's namespace: before the write takes effect, or after it."""

    write: int
    when: Literal["before", "after"]


@dataclass(frozen=True)
class AtAMoment:
    """A kill `seconds` after it has listed everything."""

    seconds: float


Strike = InAWrite | AtAMoment


class Processes:
    """Works inside its `async with` block. The processes share an identity, like the restarts of one pod."""

    def __init__(
        self, cluster: Cluster, proxy: Proxy, folder: Path, own: str, namespace: str, strikes: Sequence[Strike] = ()
    ) -> None:
        """`own`: the namespace of their Lease."""
        self._cluster, self._proxy, self._folder, self._namespace = cluster, proxy, folder, namespace
        places = {"TRAINWRIGHT_NAMESPACE": own, "TRAINWRIGHT_NAMESPACES": namespace}
        self._settings = {**QUICK, **places, "KUBECONFIG": str(proxy.kubeconfig)}
        self._own, self._strikes = own, strikes
        self.killed = 0
        self._running: asyncio.Task[None] | None = None

    async def __aenter__(self) -> Self:
        self.start()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.stop()

    def start(self) -> None:
        self._running = asyncio.create_task(self._live())

    async def stop(self) -> None:
        """Stop with SIGKILL. Raises if a process has ended by itself."""
        if self._running is not None:
            self._running.cancel()
            with suppress(asyncio.CancelledError):
                await self._running
            self._running = None

    async def restart(self) -> None:
        await self.stop()
        self.start()

    async def quiet(self, seconds: float) -> None:
        await self._proxy.sendings.quiet(seconds)

    async def _live(self) -> None:
        for strike in self._strikes[self.killed :]:
            with self._process() as process:
                await self._struck(process, strike)
            self.killed += 1
        with self._process() as process:
            await self._until(process, lambda: False, None)

    def _process(self) -> AbstractContextManager[OperatorProcess]:
        return operator(self._cluster, self._folder / f"{self._own}-{self.killed}.log", "one", **self._settings)

    async def _struck(self, process: OperatorProcess, strike: Strike) -> None:
        match strike:
            case AtAMoment():
                await self._until(process, lambda: "all is listed" in process.messages())
                await asyncio.sleep(strike.seconds)
            case InAWrite():
                await self._in_a_write(process, strike)

    async def _in_a_write(self, process: OperatorProcess, strike: InAWrite) -> None:
        """The proxy holds the request, or its reply, until the client is gone."""
        after = strike.when == "after"
        rule = Rule(Hang(after=after), verb="write", namespace=self._namespace, skip=strike.write - 1)
        self._proxy.add(rule)
        await self._until(process, lambda: rule.hits > 0 and (not after or self._took_effect()))
        self._proxy.rules.remove(rule)

    def _took_effect(self) -> bool:
        return next(sent.took_effect for sent in reversed(self._proxy.sendings.all) if sent.fault)

    async def _until(
        self, process: OperatorProcess, holds: Callable[[], bool], seconds: float | None = SECONDS_TO_STRIKE
    ) -> None:
        loop = asyncio.get_running_loop()
        end = None if seconds is None else loop.time() + seconds
        while not holds():
            if process.process.poll() is not None or (end is not None and loop.time() > end):
                raise NotReached(f"the operator's process: {process.process.poll()}\n{process.log.read_text()}")
            await asyncio.sleep(SECONDS_BETWEEN_LOOKS)
