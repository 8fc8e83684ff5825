"""The TrainingJobs, as kopf's handlers report them.

kopf lists again when its watch has a gap, and does not report the deletions in between. So the names are read from the
responses on their way to kopf, and a job that a complete list did not contain is removed.
"""

from __future__ import annotations

import asyncio
import logging
from collections import OrderedDict
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from datetime import datetime

from trainwright_api.checks.cluster import ValidationResult, validate_job
from trainwright_api.checks.default_volumes import Template
from trainwright_operator.informer.list_watch import Clock
from trainwright_operator.informer.store import Key, Store, key_of
from trainwright_operator.informer.trim import StoredJob, strip_job
from trainwright_operator.model.observed import Job, Manifest
from trainwright_operator.settings import Place, Settings

log = logging.getLogger(__name__)

OnChange = Callable[[Key, StoredJob | None, StoredJob | None], None]


@dataclass
class Listing:
    """kopf's lists of one place: the one that is being read, and the newest complete one."""

    last_seen: datetime
    reading: set[Key] = field(default_factory=set)
    names: frozenset[Key] = frozenset()
    version: int = 0
    whole: asyncio.Event = field(default_factory=asyncio.Event)


class Jobs:
    """The cache of TrainingJobs. It calls `on_change` with the key, the old value and the new one."""

    def __init__(self, settings: Settings, clock: Clock, on_change: OnChange) -> None:
        self.store = Store(strip_job, _uid, on_change)
        self._clock, self._on_change = clock, on_change
        self._listings = {place: Listing(clock()) for place in settings.places}

    def on_event(self, kind: str | None, raw: Manifest) -> None:
        """Handle an event from kopf. The kind is None for an object in a list."""
        if kind == "DELETED":
            self.store.remove(raw)
        else:
            self.store.put(raw)
        if kind is None and self.store.get(key_of(raw)) is None:
            self._on_change(key_of(raw), None, None)

    def note(self, raw: Manifest) -> None:
        """Store the API server's answer to a write of the operator."""
        self.store.put(raw)

    def forget(self, job: Job) -> None:
        """Remove a job that the API server has reported as gone."""
        where = {"namespace": job.namespace, "name": job.name, "resourceVersion": job.resource_version}
        self.store.remove({"metadata": where})

    def listed(self, place: Place, names: Iterable[Key], version: int, *, first: bool, last: bool) -> None:
        """Record a page of a list that kopf reads. After the last page, jobs that the list lacks are removed."""
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

    def keys(self, place: Place) -> list[Key]:
        """Return the keys in the newest complete list. kopf reports each of them, sooner or later."""
        return sorted(self._listings[place].names)

    def synced(self, place: Place) -> bool:
        """Return True once the first list of the place is complete."""
        return self._listings[place].whole.is_set()

    async def wait_until_synced(self, place: Place) -> None:
        await self._listings[place].whole.wait()

    def seen(self, place: Place) -> None:
        """Record that the API server has answered a request of kopf."""
        self._listings[place].last_seen = self._clock()

    @property
    def last_seen(self) -> datetime:
        """The time of the last answer, for the place where it is oldest."""
        return min(listing.last_seen for listing in self._listings.values())

    @property
    def places(self) -> Iterable[Place]:
        return self._listings


class ValidationCache:
    """The newest `size` validation results, by uid and generation: each version of a spec is validated once."""

    def __init__(self, template: Template, size: int = 1024) -> None:
        """`template`: the administrator's default of `podTemplate`."""
        self._template, self._size = template, size
        self._results: OrderedDict[tuple[str, int], ValidationResult] = OrderedDict()

    def of(self, raw: Manifest) -> ValidationResult:
        key = (raw["metadata"]["uid"], raw["metadata"].get("generation", 0))
        result = self._results.pop(key, None) or validate_job(raw, template=self._template)
        self._results[key] = result
        if len(self._results) > self._size:
            self._results.popitem(last=False)
        return result


def _uid(job: StoredJob) -> str:
    return job.uid
