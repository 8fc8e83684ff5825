"""What the API server says of many objects, asked side by side. Nothing is stored."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from e2e.api import Api, ApiError
from e2e.api.resource import TRAINING_JOBS

AT_ONCE = 32
REFUSALS = (400, 413, 422)
"""413 is for what is larger than the API server reads at all."""


@dataclass(frozen=True)
class Answer:
    refusal: str
    """Empty where it took the object."""
    stored: Any = None
    """As it would have stored it."""


async def created(kubeconfig: Path, namespace: str, jobs: Sequence[Any]) -> list[Answer]:
    """Of each job, whether it could be created, with the strictness of kubectl."""
    return await _asked(kubeconfig, "POST", TRAINING_JOBS.path(namespace), jobs)


async def written(kubeconfig: Path, namespace: str, name: str, objects: Sequence[Any]) -> list[Answer]:
    """Of each object, whether it could replace the status of the job."""
    return await _asked(kubeconfig, "PUT", TRAINING_JOBS.path(namespace, name, "status"), objects)


async def _asked(kubeconfig: Path, method: str, path: str, objects: Sequence[Any]) -> list[Answer]:
    async with Api(kubeconfig, AT_ONCE) as api:
        # Requests wait for a connection with their clocks running, so only as many are made as there are connections.
        free = asyncio.Semaphore(AT_ONCE)

        async def one(made: Any) -> Answer:
            async with free:
                return await _answer(api, method, path, made)

        return await asyncio.gather(*(one(made) for made in objects))


async def _answer(api: Api, method: str, path: str, made: Any) -> Answer:
    try:
        return Answer("", await api.request(method, path, made, dryRun="All", fieldValidation="Strict"))
    except ApiError as error:
        if error.code not in REFUSALS:
            raise
        return Answer(error.message)
