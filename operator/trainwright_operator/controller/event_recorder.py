"""Writes Events, for `kubectl describe`. They are told once, and nothing depends on them.

They wait in a queue of their own, so that no job waits for the events of another. An operator that dies takes with it
those that it has not written yet.
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
"""Of the job's name so much goes into an event's, which has 253 characters."""
WORD_LIMIT = 128
WAITING_LIMIT = 10_000
"""More events than these are dropped: the API server has not taken any for a while."""

log = logging.getLogger(__name__)


class EventRecorder:
    def __init__(self, client: Client, now: Callable[[], datetime], identity: str) -> None:
        self._client = client
        self._now = now
        self._identity = identity or "operator"
        self._waiting: asyncio.Queue[Mapping[str, Any]] = asyncio.Queue(WAITING_LIMIT)

    def difference(self, job: Job, after: TrainingJobStatus) -> None:
        """What has changed by a status that was written."""
        for place, event in enumerate(between(job.status, after)):
            try:
                self._waiting.put_nowait(self._manifest(job, event, place))
            except asyncio.QueueFull:
                log.warning("the event %s is dropped: %d others wait", event.reason, WAITING_LIMIT)

    async def run(self) -> None:
        """Writes what waits, one after the other, for ever."""
        while True:
            await self._write(await self._waiting.get())

    async def flush(self) -> None:
        """Writes what waits now."""
        while not self._waiting.empty():
            await self._write(self._waiting.get_nowait())

    async def _write(self, event: Mapping[str, Any]) -> None:
        try:
            await self._client.create(EVENTS, event["metadata"]["namespace"], event)
        except ApiError as error:
            log.warning("the event %s could not be written: %s", event["reason"], error)

    def _manifest(self, job: Job, event: Event, place: int) -> Mapping[str, Any]:
        now = self._now()
        # kubectl lists events of one second by name: the name grows with the time.
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
    """The API server counts bytes."""
    whole = text.encode()
    return text if len(whole) <= NOTE_BYTES else whole[: NOTE_BYTES - 3].decode(errors="ignore") + "…"
