"""The cache of one resource, in the whole cluster or in some namespaces."""

from __future__ import annotations

import asyncio
from datetime import datetime
from typing import Generic, TypeVar

from trainwright_operator.informer.list_watch import Clock, ListWatch
from trainwright_operator.informer.store import Store
from trainwright_operator.kube.client import Client
from trainwright_operator.kube.resources import Resource
from trainwright_operator.model.observed import Manifest
from trainwright_operator.settings import Place, Settings

T = TypeVar("T")


class Reflector(Generic[T]):
    """A store, and the ListWatch that fills it, or one for each namespace."""

    def __init__(
        self,
        client: Client,
        resource: Resource,
        store: Store[T],
        settings: Settings,
        clock: Clock,
        *,
        selector: str = "",
    ) -> None:
        self.resource, self.store = resource, store
        self._feeds = {
            place: ListWatch(client, resource, place, selector, store, settings, clock) for place in settings.places
        }

    def synced(self, place: Place) -> bool:
        """Return True once the first list of the place is complete."""
        return self._feeds[place].synced.is_set()

    async def wait_until_synced(self, place: Place) -> None:
        await self._feeds[place].synced.wait()

    @property
    def installed(self) -> bool:
        """True if the API server knows the resource."""
        return all(feed.installed for feed in self._feeds.values())

    @property
    def last_seen(self) -> datetime:
        """The time of the API server's last answer, for the place where it is oldest."""
        return min(feed.last_seen for feed in self._feeds.values())

    async def run(self) -> None:
        async with asyncio.TaskGroup() as group:
            for feed in self._feeds.values():
                group.create_task(feed.run())

    def note(self, raw: Manifest) -> None:
        """Store the answer to a write of the operator: the next decision sees it before the watch delivers it."""
        self.store.put(raw)
