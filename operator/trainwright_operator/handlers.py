"""What kopf calls: the operator begins here.

Every change of a TrainingJob asks for a pass. A pass (`reconciler.py`) looks at the job and at what it has started,
lets `plan.py` decide, and carries that out.
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
    """What the handlers work with."""

    settings: Settings
    server: str
    session: aiohttp.ClientSession
    jobs: Relay

    def __copy__(self) -> Self:
        """kopf makes a copy for each object."""
        return self


@kopf.on.startup(registry=REGISTRY)
async def configure(settings: kopf.OperatorSettings, memo: Any, **_: Any) -> None:
    kopf_settings.configure(settings, memo.settings)


@kopf.on.login(registry=REGISTRY)
async def login(memo: Any, **_: Any) -> kopf.AiohttpSession:
    return kopf.AiohttpSession(server=memo.server, aiohttp_session=memo.session)


@kopf.on.event(TRAINING_JOBS.group, TRAINING_JOBS.version, TRAINING_JOBS.plural, registry=REGISTRY)
async def training_job(event: kopf.RawEvent, memo: Any, **_: Any) -> None:
    """Created, changed or deleted; or there already when the operator started."""
    memo.jobs.heard(event["type"], event["object"])
