"""Writes Events, for `kubectl describe`. Each event is written once, and nothing depends on it.

Events wait in their own queue, so that no job waits for the events of another. If the operator dies, the events in the
queue are lost.
"""

from __future__ import annotations

import asyncio
import logging
import secrets
from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Any

from trainwright_api.resource.status import TrainingJobStatus
from trainwright_operator.controller.status_events import between
from trainwright_operator.kube.client import ApiError, Client
from trainwright_operator.kube.resources import EVENTS, TRAINING_JOBS
from trainwright_operator.model.observed import Job
from trainwright_operator.model.plan import Event

CONTROLLER = "trainwright.dev/operator"
MICROTIME = "%Y-%m-%dT%H:%M:%S.%fZ"
NOTE_BYTES = 1024
NAME_LIMIT = 220
"""The maximum length of the job's name in an event's name, which may have 253 characters."""
WORD_LIMIT = 128
WAITING_LIMIT = 10_000
"""The maximum number of waiting events. Further events are dropped: the API server has not accepted any for a while."""

log = logging.getLogger(__name__)


class EventRecorder:
    def __init__(self, client: Client, now: Callable[[], datetime], identity: str) -> None:
        self._client = client
        self._now = now
        self._identity = identity or "operator"
        self._waiting: asyncio.Queue[Mapping[str, Any]] = asyncio.Queue(WAITING_LIMIT)

    def difference(self, job: Job, after: TrainingJobStatus) -> None:
        """Queue the events of a status that was written."""
        self.add(job, *between(job.status, after))

    def add(self, job: Job, *events: Event) -> None:
        for place, event in enumerate(events):
            try:
                self._waiting.put_nowait(self._manifest(job, event, place))
            except asyncio.QueueFull:
                log.warning("the event %s is dropped: %d others wait", event.reason, WAITING_LIMIT)

    async def run(self) -> None:
        """Write the queued events one after the other, for ever."""
        while True:
            await self._write(await self._waiting.get())

    async def flush(self) -> None:
        """Write the events that are queued now."""
        while not self._waiting.empty():
            await self._write(self._waiting.get_nowait())

    async def _write(self, event: Mapping[str, Any]) -> None:
        try:
            await self._client.create(EVENTS, event["metadata"]["namespace"], event)
        except ApiError as error:
            log.warning("the event %s could not be written: %s", event["reason"], error)

    def _manifest(self, job: Job, event: Event, place: int) -> Mapping[str, Any]:
        now = self._now()
        # kubectl sorts the events of one second by name, so the name increases with time.
        when = f"{int(now.timestamp() * 1e6) + place:x}"
        name = f"{job.name[:NAME_LIMIT].rstrip('-.')}.{when}{secrets.token_hex(2)}"
        return {
            "apiVersion": EVENTS.api_version,
            "kind": EVENTS.kind,
            "metadata": {"name": name, "namespace": job.namespace},
            "eventTime": now.strftime(MICROTIME),
            "reportingController": CONTROLLER,
            "reportingInstance": self._identity[:WORD_LIMIT],
            "action": "Reconcile",
            "type": event.type,
            "reason": event.reason[:WORD_LIMIT],
            "note": _cut(event.message),
            "regarding": _reference(job),
        }


def _reference(job: Job) -> Mapping[str, str]:
    return {
        "apiVersion": TRAINING_JOBS.api_version,
        "kind": TRAINING_JOBS.kind,
        "namespace": job.namespace,
        "name": job.name,
        "uid": job.uid,
        "resourceVersion": job.resource_version,
    }


def _cut(text: str) -> str:
    """Cut the text to NOTE_BYTES, since the API server limits bytes and not characters."""
    whole = text.encode()
    return text if len(whole) <= NOTE_BYTES else whole[: NOTE_BYTES - 3].decode(errors="ignore") + "…"
