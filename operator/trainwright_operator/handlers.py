"""The handlers that kopf calls: the entry of every event.

Every change of a TrainingJob enqueues a pass. A pass (`reconciler.py`) reads the job and its children, lets `plan.py`
decide, and applies the plan.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import aiohttp
import kopf

from trainwright_operator.kopf_adapter import settings as kopf_settings
from trainwright_operator.kopf_adapter.relay import Relay
from trainwright_operator.kube.resources import TRAINING_JOBS
from trainwright_operator.settings import Settings

REGISTRY = kopf.OperatorRegistry()


@dataclass(frozen=True)
class Memo:
    """The objects that kopf passes to every handler."""

    settings: Settings
    server: str
    session: aiohttp.ClientSession
    jobs: Relay

    def __copy__(self) -> Self:
        """Return the same object. kopf copies the memo for each Kubernetes object."""
        return self


@kopf.on.startup(registry=REGISTRY)
async def configure(settings: kopf.OperatorSettings, memo: Any, **_: Any) -> None:
    kopf_settings.configure(settings, memo.settings)


@kopf.on.login(registry=REGISTRY)
async def login(memo: Any, **_: Any) -> kopf.AiohttpSession:
    return kopf.AiohttpSession(server=memo.server, aiohttp_session=memo.session)


@kopf.on.event(TRAINING_JOBS.group, TRAINING_JOBS.version, TRAINING_JOBS.plural, registry=REGISTRY)
async def training_job(event: kopf.RawEvent, memo: Any, **_: Any) -> None:
    """Handle a TrainingJob that was created, changed or deleted, or that kopf found in a list."""
    memo.jobs.on_event(event["type"], event["object"])
