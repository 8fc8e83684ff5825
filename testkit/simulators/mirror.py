"""The objects of one resource, kept current by list and watch, across restarts of the API server."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Sequence

import aiohttp

from testkit.api import Api, ApiError, Manifest, Resource
from trainwright_operator.model import names

Key = tuple[str, str]
Listener = Callable[[str, Manifest], None]
AWAY = (aiohttp.ClientError, TimeoutError, ConnectionError)
SECONDS_BEFORE_ANOTHER_TRY = 0.1


class Mirror:
    """`objects` by namespace and name. Listeners get every change: ADDED, MODIFIED, DELETED or MISSED.

    MISSED is a deletion that no watch event reported, with the object's last known state.
    """

    def __init__(self, api: Api, resource: Resource, namespace: str | None) -> None:
        self._api, self.resource, self._namespace = api, resource, namespace
        self.objects: dict[Key, Manifest] = {}
        self._versions: dict[Key, int] = {}
        self._related: dict[str, dict[Key, Manifest]] = {}
        self.listeners: list[Listener] = []
        self.synced = asyncio.Event()

    async def run(self) -> None:
        while True:
            try:
                await self._follow()
            except AWAY:
                await asyncio.sleep(SECONDS_BEFORE_ANOTHER_TRY)
            except ApiError as error:
                if error.code < 500 and error.code not in (410, 429):
                    raise
                await asyncio.sleep(SECONDS_BEFORE_ANOTHER_TRY)

    async def _follow(self) -> None:
        """List, then watch until the resourceVersion is too old."""
        listing = await self._api.list(self.resource, self._namespace)
        self._replace(listing.items)
        self.synced.set()
        version = listing.resource_version
        while True:
            async for change in self._api.watch(self.resource, self._namespace, version):
                version = change.object["metadata"]["resourceVersion"]
                self._take(change.type, change.object)

    def put(self, seen: Manifest) -> None:
        """Store the reply to one of our own writes at once, before the watch delivers it."""
        self._take("MODIFIED" if key_of(seen) in self.objects else "ADDED", seen)

    def related_to(self, uid: str) -> Sequence[Manifest]:
        """The objects that this uid controls; for a TrainingJob, those with its label."""
        return list(self._related.get(uid, {}).values())

    def _replace(self, items: Iterable[Manifest]) -> None:
        listed = {key_of(item): item for item in items}
        for key in self.objects.keys() - listed.keys():
            self._tell("MISSED", self._forgotten(key))
        for item in listed.values():
            self._take("MODIFIED" if key_of(item) in self.objects else "ADDED", item)

    def _take(self, type_: str, seen: Manifest) -> None:
        """Store the event. An older state than the known one is ignored."""
        key, version = key_of(seen), int(seen["metadata"]["resourceVersion"])
        if version <= self._versions.get(key, 0):
            return
        self._versions[key] = version
        if key in self.objects:
            self._forgotten(key)
        if type_ != "DELETED":
            self.objects[key] = seen
            for uid in _relations(seen):
                self._related.setdefault(uid, {})[key] = seen
        self._tell(type_, seen)

    def _forgotten(self, key: Key) -> Manifest:
        seen = self.objects.pop(key)
        for uid in _relations(seen):
            related = self._related[uid]
            related.pop(key)
            if not related:
                del self._related[uid]
        return seen

    def _tell(self, type_: str, seen: Manifest) -> None:
        for listener in self.listeners:
            listener(type_, seen)


def key_of(seen: Manifest) -> Key:
    return (seen["metadata"].get("namespace", ""), seen["metadata"]["name"])


def owner_uid(seen: Manifest) -> str:
    """The uid of the controlling owner."""
    owners = seen["metadata"].get("ownerReferences", ())
    return next((owner["uid"] for owner in owners if owner.get("controller")), "")


def job_uid(seen: Manifest) -> str:
    """The uid of the TrainingJob in the object's label."""
    return str(seen["metadata"].get("labels", {}).get(names.JOB_UID, ""))


def _relations(seen: Manifest) -> set[str]:
    return {owner_uid(seen), job_uid(seen)} - {""}
