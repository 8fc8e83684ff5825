"""The API server's answers for many objects, requested in parallel. Nothing is stored."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from testkit.api import Api, ApiError
from testkit.api.resource import TRAINING_JOBS

AT_ONCE = 32
REFUSALS = (400, 413, 422)
"""413 is for an object above the API server's size limit."""


@dataclass(frozen=True)
class Admission:
    refusal: str
    """Empty if the object was accepted."""
    stored: Any = None
    """The object as it would be stored."""


async def created(kubeconfig: Path, namespace: str, jobs: Sequence[Any]) -> list[Admission]:
    """Return for each job if it could be created, with kubectl's strict field validation."""
    return await _asked(kubeconfig, "POST", TRAINING_JOBS.path(namespace), jobs)


async def written(kubeconfig: Path, namespace: str, name: str, objects: Sequence[Any]) -> list[Admission]:
    """Return for each object if it could replace the status of the job."""
    return await _asked(kubeconfig, "PUT", TRAINING_JOBS.path(namespace, name, "status"), objects)


async def _asked(kubeconfig: Path, method: str, path: str, objects: Sequence[Any]) -> list[Admission]:
    async with Api(kubeconfig, AT_ONCE) as api:
        # A request's timeout includes the wait for a connection, so there are only as many requests as connections.
        free = asyncio.Semaphore(AT_ONCE)

        async def one(made: Any) -> Admission:
            async with free:
                return await _answer(api, method, path, made)

        return await asyncio.gather(*(one(made) for made in objects))


async def _answer(api: Api, method: str, path: str, made: Any) -> Admission:
    try:
        return Admission("", await api.request(method, path, made, dryRun="All", fieldValidation="Strict"))
    except ApiError as error:
        if error.code not in REFUSALS:
            raise
        return Admission(error.message)
