"""The TrainingJobs, as kopf's handlers tell of them.

kopf lists again where its watch has a gap, and does not tell what was deleted meanwhile. So the names in its lists are
read on their way to it, and a job that a whole list did not hold is forgotten.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from datetime import datetime

from trainwright_operator.informer.list_watch import Clock
from trainwright_operator.informer.store import Key, Store, key_of
from trainwright_operator.informer.trim import StoredJob, strip_job
from trainwright_operator.model.observed import Job, Manifest
from trainwright_operator.settings import Settings

log = logging.getLogger(__name__)

Place = str | None
"""A namespace; None: the whole cluster."""
OnChange = Callable[[Key, StoredJob | None, StoredJob | None], None]


@dataclass
class Listing:
    """kopf's lists of one place: the one that is being read, and what is known of the newest whole one."""

    last_seen: datetime
    reading: set[Key] = field(default_factory=set)
    names: frozenset[Key] = frozenset()
    version: int = 0
    whole: asyncio.Event = field(default_factory=asyncio.Event)


class Jobs:
    """`on_change` is told key, old and new."""

    def __init__(self, settings: Settings, clock: Clock, on_change: OnChange) -> None:
        self.store = Store(strip_job, _uid, on_change)
        self._clock, self._on_change = clock, on_change
        self._listings = {place: Listing(clock()) for place in settings.namespaces or (None,)}

    def heard(self, kind: str | None, raw: Manifest) -> None:
        """An event from kopf; of an object in a list the kind is None."""
        if kind == "DELETED":
            self.store.remove(raw)
        else:
            self.store.put(raw)
        if kind is None and self.store.get(key_of(raw)) is None:
            self._on_change(key_of(raw), None, None)

    def note(self, raw: Manifest) -> None:
        """The API server's answer to a write of ours."""
        self.store.put(raw)

    def forget(self, job: Job) -> None:
        """The API server has answered that the job is gone."""
        where = {"namespace": job.namespace, "name": job.name, "resourceVersion": job.resource_version}
        self.store.remove({"metadata": where})

    def listed(self, place: Place, names: Iterable[Key], version: int, *, first: bool, last: bool) -> None:
        """A page of a list that kopf reads. With the last one, what the list did not hold is forgotten."""
        listing = self._listings[place]
        if first:
            listing.reading.clear()
        listing.reading.update(names)
        if last:
            self._whole(place, listing, version)

    def _whole(self, place: Place, listing: Listing, version: int) -> None:
        if version < listing.version:
            log.warning("a list of trainingjobs as of %s is older than the one before: nothing is forgotten", version)
        else:
            listing.names, listing.version = frozenset(listing.reading), version
            self.store.retain(place, listing.names, version)
        listing.reading.clear()
        listing.whole.set()

    def keys(self) -> list[Key]:
        """What the newest whole lists held: kopf tells of each, sooner or later."""
        return sorted(key for listing in self._listings.values() for key in listing.names)

    @property
    def synced(self) -> bool:
        """A first list is whole."""
        return all(listing.whole.is_set() for listing in self._listings.values())

    async def wait_until_synced(self) -> None:
        for listing in self._listings.values():
            await listing.whole.wait()

    def seen(self, place: Place) -> None:
        """The API server has answered a request of kopf's."""
        self._listings[place].last_seen = self._clock()

    @property
    def last_seen(self) -> datetime:
        """When it last did, of the place where that is longest ago."""
        return min(listing.last_seen for listing in self._listings.values())

    @property
    def places(self) -> Iterable[Place]:
        return self._listings


def _uid(job: StoredJob) -> str:
    return job.uid
