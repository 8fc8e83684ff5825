"""The events of Jobs whose pods cannot be created, read for all jobs of a namespace together.

The API server has no index for such a list: it reads all events of the namespace. So thousands of jobs that wait cause
one list in `SECONDS`.
"""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import Callable, Mapping
from datetime import datetime
from http import HTTPStatus
from typing import Any

from trainwright_operator.kube.client import ApiError, Client
from trainwright_operator.kube.resources import EVENTS
from trainwright_operator.model import refusals, times

SECONDS = 20.0
Causes = Mapping[str, str]
"""By the name of the Job."""


class FailedCreations:
    def __init__(self, client: Client, clock: Callable[[], datetime]) -> None:
        self._client, self._clock = client, clock
        self._locks: defaultdict[str, asyncio.Lock] = defaultdict(asyncio.Lock)
        self._read: dict[str, tuple[datetime, Causes]] = {}

    async def cause(self, namespace: str, child: str) -> str:
        """Return why pods of the child cannot be created, "" if no event says so."""
        async with self._locks[namespace]:
            until, causes = self._read.get(namespace, (None, {}))
            if until is None or self._clock() >= until:
                causes = await self._list(namespace)
                self._read[namespace] = (times.after(self._clock(), SECONDS), causes)
        return causes.get(child, "")

    async def _list(self, namespace: str) -> Causes:
        """Read the events. The roles of an older release do not allow that; then there are none."""
        found: defaultdict[str, list[Mapping[str, Any]]] = defaultdict(list)
        selector = f"reason={refusals.FAILED_CREATE},regarding.kind=Job"
        try:
            async for page in self._client.list(EVENTS, namespace, field_selector=selector):
                if page.first:
                    found.clear()
                for event in page.items:
                    found[refusals.regarding(event)].append(event)
        except ApiError as error:
            if error.status != HTTPStatus.FORBIDDEN:
                raise
        return {child: refusals.newest_cause(events) for child, events in found.items()}
