"""Leader election: the operator process that holds the Lease is the leader.

As in client-go, no process trusts the clock of another machine: a Lease is free if its record has not changed for
`lease_duration` on the local monotonic clock. The holder gives up after two thirds of that time without a renewal,
counted from before it sent the last renewal, so it stops before another process can start to lead. The Lease object
stores whole seconds, for people to read; the processes use the settings, which are the same on all pods.
"""

from __future__ import annotations

import asyncio
import logging
import math
from collections.abc import Awaitable, Callable, Coroutine
from datetime import UTC, datetime
from typing import Any, NoReturn, TypeVar

from trainwright_operator.kube.client import ApiError, Client
from trainwright_operator.kube.resources import LEASES
from trainwright_operator.model.observed import Manifest
from trainwright_operator.settings import Settings

NAME = "trainwright-operator"
MICROTIME = "%Y-%m-%dT%H:%M:%S.%fZ"

log = logging.getLogger(__name__)
Answer = TypeVar("Answer")


class LeaseLost(Exception):
    """Another process may lead now: this process must not write any more."""


class Lease:
    def __init__(
        self,
        client: Client,
        settings: Settings,
        monotonic: Callable[[], float],
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        self._client = client
        self._settings = settings
        self._monotonic = monotonic
        self._sleep = sleep
        self._seen: Manifest | None = None
        """The Lease object as last read or written."""
        self._seen_at = -math.inf
        """The monotonic time when its current record was first seen."""
        self._renewed_at = -math.inf
        """The monotonic time when the last successful renewal was sent."""

    @property
    def holds(self) -> bool:
        """True if no other process can hold the Lease yet. True only between `acquire` and the end of `hold`."""
        return self._monotonic() < self._renewed_at + self._patience

    async def acquire(self) -> None:
        """Wait until this operator leads."""
        holder = ""
        while not await self._tried():
            if self._seen is not None and _holder(self._seen) != holder:
                holder = _holder(self._seen)
                log.info(
                    "waiting for the Lease %s/%s, which %s holds", self._settings.namespace, NAME, holder or "nobody"
                )
            await self._sleep(self._until_free())
        log.info("leading as %s", self._settings.identity)

    async def hold(self) -> NoReturn:
        """Renew the Lease for ever. Raises LeaseLost if it is not renewed in time or another process holds it."""
        while True:
            await self._sleep(min(self._settings.lease_renew, self._left()))
            if self.holds:
                await self._renewed()
            if not self.holds:
                raise LeaseLost(f"the Lease was not renewed for {self._patience:g} s")

    async def release(self) -> None:
        """Release the Lease so that the next leader need not wait. A failure only logs: the Lease expires by itself."""
        if not self.holds:
            return
        left, self._renewed_at = self._left(), -math.inf
        try:
            await self._within(left, self._drop())
        except (ApiError, TimeoutError) as error:
            log.warning("the Lease could not be released, it ends by itself: %s", error)

    @property
    def _patience(self) -> float:
        return self._settings.lease_duration * 2 / 3

    def _left(self) -> float:
        return max(0.0, self._renewed_at + self._patience - self._monotonic())

    def _until_free(self) -> float:
        """Return the seconds until the Lease can be free, at most a renewal interval, to see a release soon."""
        expires = self._seen_at + self._settings.lease_duration - self._monotonic()
        renew = self._settings.lease_renew
        return min(renew, expires) if expires > 0 else renew

    async def _tried(self) -> bool:
        """Read the Lease once, and write it if it is free."""
        try:
            return await self._within(self._patience, self._look_and_take())
        except (ApiError, TimeoutError) as error:
            log.warning("the Lease cannot be had: %s", error or "no answer")
            return False

    async def _look_and_take(self) -> bool:
        found = await self._read()
        if found is None:
            return await self._written(self._create())
        self._note(found)
        return self._free(found) and await self._written(self._replace(found, self._settings.identity))

    async def _renewed(self) -> None:
        """Try to renew once. A failure leaves the state unchanged for the next try."""
        try:
            await self._within(self._left(), self._renew())
        except (ApiError, TimeoutError) as error:
            log.warning("the Lease was not renewed: %s", error or "no answer")

    async def _renew(self) -> None:
        """Write the Lease with the resourceVersion last seen. On a conflict or a deletion, read it again."""
        if self._seen is not None and await self._written(self._replace(self._seen, self._settings.identity)):
            return
        found = await self._read()
        if found is None:
            await self._written(self._create())
        elif _holder(found) != self._settings.identity:
            self._renewed_at = -math.inf
            raise LeaseLost(f"the Lease is held by {_holder(found) or 'nobody'}")
        else:
            self._note(found)
            await self._written(self._replace(found, self._settings.identity))

    async def _written(self, write: Coroutine[Any, Any, Manifest]) -> bool:
        """Return False if another process wrote first or the Lease is gone; else record the renewal."""
        sent = self._monotonic()
        try:
            self._note(await write)
        except ApiError as error:
            if error.not_found or error.status == 409:
                return False
            raise
        self._renewed_at = sent
        return True

    async def _drop(self) -> None:
        """Clear the holder. The Lease is read first, because a cancelled renewal may have written it, and once more
        where that renewal arrives after the read.
        """
        while (found := await self._read()) is not None and _holder(found) == self._settings.identity:
            try:
                await self._replace(found, "")
            except ApiError as error:
                if error.status != 409:
                    raise
            else:
                log.info("the Lease is released")
                return

    def _free(self, lease: Manifest) -> bool:
        if _holder(lease) in ("", self._settings.identity):
            return True
        return self._monotonic() >= self._seen_at + self._settings.lease_duration

    def _note(self, lease: Manifest) -> None:
        if self._seen is None or _record(self._seen) != _record(lease):
            self._seen_at = self._monotonic()
        self._seen = lease

    async def _read(self) -> Manifest | None:
        return await self._client.find(LEASES, self._settings.namespace, NAME)

    async def _create(self) -> Manifest:
        spec = {"acquireTime": _now(), "leaseTransitions": 0, **self._terms(self._settings.identity)}
        metadata = {"name": NAME, "namespace": self._settings.namespace}
        body = {"apiVersion": "coordination.k8s.io/v1", "kind": "Lease", "metadata": metadata, "spec": spec}
        return await self._client.create(LEASES, self._settings.namespace, body)

    async def _replace(self, lease: Manifest, holder: str) -> Manifest:
        """Write the Lease. The API server answers with a conflict if the Lease has changed since it was read."""
        spec = {**lease.get("spec", {}), **self._terms(holder)}
        if holder and holder != _holder(lease):
            spec["acquireTime"] = _now()
            spec["leaseTransitions"] = (spec.get("leaseTransitions") or 0) + 1
        return await self._client.replace(LEASES, self._settings.namespace, NAME, {**lease, "spec": spec})

    def _terms(self, holder: str) -> Manifest:
        seconds = max(1, math.ceil(self._settings.lease_duration))
        return {"holderIdentity": holder, "leaseDurationSeconds": seconds, "renewTime": _now()}

    async def _within(self, seconds: float, request: Coroutine[Any, Any, Answer]) -> Answer:
        """Return the result of the request. Raises TimeoutError after `seconds`."""
        asked, timer = asyncio.ensure_future(request), asyncio.ensure_future(_waited(self._sleep, seconds))
        try:
            await asyncio.wait((asked, timer), return_when=asyncio.FIRST_COMPLETED)
            if not asked.done():
                raise TimeoutError("no answer")
            return asked.result()
        finally:
            for task in (asked, timer):
                task.cancel()
            await asyncio.gather(asked, timer, return_exceptions=True)


async def _waited(sleep: Callable[[float], Awaitable[None]], seconds: float) -> None:
    await sleep(seconds)


def _holder(lease: Manifest) -> str:
    return lease.get("spec", {}).get("holderIdentity") or ""


def _record(lease: Manifest) -> tuple[str, Any]:
    return _holder(lease), lease.get("spec", {}).get("renewTime")


def _now() -> str:
    return datetime.now(UTC).strftime(MICROTIME)
