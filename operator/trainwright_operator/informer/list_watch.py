"""Keeps a store equal to the API server's state: list, replace, watch from there, and list again after a failure.

A ListWatch continues after every error of the API server. Any other exception is a bug in the operator and ends the
process, because an operator that decides on outdated data does harm.
"""

from __future__ import annotations

import asyncio
import logging
import random
from collections.abc import Callable
from contextlib import aclosing
from datetime import datetime
from typing import Any, Generic, TypeVar

from trainwright_operator.informer.store import Entry, Key, Store, version_of
from trainwright_operator.kube.client import Client
from trainwright_operator.kube.errors import ApiError, Unreachable
from trainwright_operator.kube.resources import Resource
from trainwright_operator.model.observed import Manifest
from trainwright_operator.settings import Settings

log = logging.getLogger(__name__)

T = TypeVar("T")
Clock = Callable[[], datetime]

MISSING_SECONDS = 60.0
"""The interval at which a resource that the API server does not know is listed again."""
SHORT_SECONDS = 1.0
"""A watch without an event that ends sooner counts as failed."""


class ListWatch(Generic[T]):
    """A list and a watch: of the whole cluster, or of one namespace."""

    def __init__(
        self,
        client: Client,
        resource: Resource,
        namespace: str | None,
        selector: str,
        store: Store[T],
        settings: Settings,
        clock: Clock,
    ) -> None:
        self._client, self._resource, self._namespace, self._selector = client, resource, namespace, selector
        self._store, self._settings, self._clock = store, settings, clock
        self.last_seen = clock()
        self.synced = asyncio.Event()
        self.installed = True
        self._version: int | None = None
        """The resourceVersion at which the next watch starts. None: a list is due."""
        self._list_due = 0.0
        self._failures = 0

    async def run(self) -> None:
        while True:
            try:
                await self._follow()
            except ApiError as error:
                await self._recover(error)

    async def _follow(self) -> None:
        now = asyncio.get_running_loop().time()
        if self._version is None or now >= self._list_due:
            await self._list()
            # A complete list from time to time also repairs silent errors, such as an event that never arrived.
            self._list_due = now + self._settings.resync * random.uniform(0.9, 1.1)
        if self._version is None:
            await asyncio.sleep(min(MISSING_SECONDS, self._settings.resync))
        else:
            await self._watch(self._version, min(self._settings.watch_timeout, self._list_due - now))

    async def _list(self) -> None:
        listed: dict[Key, Entry[T]] = {}
        version = 0
        try:
            async with aclosing(self._client.list(self._resource, self._namespace, selector=self._selector)) as pages:
                async for page in pages:
                    self._seen()
                    if page.first:
                        listed.clear()
                    listed.update(self._store.listed(page.items))
                    version = int(page.resource_version)
        except ApiError as error:
            if not error.not_found:
                raise
            self._missing()
            return
        self._store.replace(self._namespace, listed, version)
        self._version, self.installed = version, True
        self.synced.set()

    def _missing(self) -> None:
        self._seen()
        self._store.clear(self._namespace)
        self._version, self.installed = None, False
        self.synced.set()

    async def _watch(self, version: int, timeout: float) -> None:
        started = asyncio.get_running_loop().time()
        events = self._client.watch(
            self._resource,
            self._namespace,
            resource_version=str(version),
            selector=self._selector,
            timeout=timeout,
        )
        received = False
        async with aclosing(events) as stream:
            async for event in stream:
                received = True
                self._failures = 0
                self._take(event)
        lasted = asyncio.get_running_loop().time() - started
        if not received and lasted < min(SHORT_SECONDS, timeout / 2):
            raise Unreachable("the watch ended at once")
        self._failures = 0
        self._seen()

    def _take(self, event: Manifest) -> None:
        self._seen()
        raw: dict[str, Any] = event["object"]
        self._version = max(self._version or 0, version_of(raw))
        match event.get("type"):
            case "ADDED" | "MODIFIED":
                self._store.put(raw)
            case "DELETED":
                self._store.remove(raw)

    def _seen(self) -> None:
        self.last_seen = self._clock()

    async def _recover(self, error: ApiError) -> None:
        if not isinstance(error, Unreachable):
            self._seen()
            if not error.overloaded:
                self._version = None
        pause = max(self._pause(), error.retry_after or 0.0)
        where = f" in {self._namespace}" if self._namespace else ""
        log.warning("%s%s: %s; trying again in %.1f s", self._resource.plural, where, error, pause)
        await asyncio.sleep(pause)

    def _pause(self) -> float:
        plain = self._settings.retry_base * 2.0 ** min(self._failures, 32)
        self._failures += 1
        return min(self._settings.retry_limit, plain) * random.uniform(0.8, 1.2)
