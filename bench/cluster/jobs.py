"""Many equal jobs on the control plane, and a recorded job as a template for others."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Callable, Sequence
from typing import Any

from testkit.api import Manifest, condition
from testkit.api.resource import RAY_JOBS, TRAINING_JOBS
from testkit.harness.jobs import training_job

from bench.cluster.environment import NAMESPACE, Environment

TIMEOUT_SECONDS = 300.0
BACKEND = {"type": "ray", "trainer": {"num_workers": 2, "resources_per_worker": {"CPU": 1, "GPU": 0}}}
"""Without GPUs: one stage, one child."""


def names(prefix: str, count: int) -> Sequence[str]:
    """Names of the same length, none of which is part of another."""
    return [f"{prefix}-{number:06}" for number in range(count)]


def is_started(job: Manifest) -> bool:
    """True if the child exists and the status says so."""
    attempts = job.get("status", {}).get("attempts", ())
    return any("createTime" in attempt for attempt in attempts)


def is_complete(job: Manifest) -> bool:
    return condition(job, "Complete") == "True"


async def applied(environment: Environment, wanted: Sequence[str], holds: Callable[[Manifest], bool]) -> float:
    """Apply jobs of these names. Return the seconds from the first request until `holds` is true of all of them."""
    version = (await environment.api.list(TRAINING_JOBS, NAMESPACE)).resource_version
    began = time.perf_counter()
    async with asyncio.timeout(TIMEOUT_SECONDS), asyncio.TaskGroup() as group:
        reached = group.create_task(_until(environment, set(wanted), holds, version))
        for name in wanted:
            group.create_task(
                environment.api.create(TRAINING_JOBS, training_job(name, "ray", backend=BACKEND), NAMESPACE)
            )
    return reached.result() - began


async def _until(environment: Environment, missing: set[str], holds: Callable[[Manifest], bool], version: str) -> float:
    """Return the time at which no job is missing."""
    while True:
        async for change in environment.api.watch(TRAINING_JOBS, NAMESPACE, version):
            version = change.object["metadata"]["resourceVersion"]
            if holds(change.object):
                missing.discard(change.object["metadata"]["name"])
            if not missing:
                return time.perf_counter()


async def check_children(environment: Environment, count: int) -> None:
    """Check that every job has its RayJob, because either program may have left one out."""
    found = len((await environment.api.list(RAY_JOBS, NAMESPACE)).items)
    if found != count:
        raise SystemExit(f"{count} jobs have {found} RayJobs")


NAME, UID, SHORT_UID, VERSION = "@name@", "@uid@", "@uid8@", "@version@"


def template(recorded: Any, name: str, uid: str) -> str:
    """Return the template as JSON text. Names that contain the first eight characters of the uid are replaced too."""
    text = json.dumps(recorded, ensure_ascii=False)
    return text.replace(uid, UID).replace(uid[:8], SHORT_UID).replace(name, NAME)


def filled(text: str, name: str, uid: str, version: str = "") -> Any:
    """Return the template filled in for another job."""
    for word, value in ((UID, uid), (SHORT_UID, uid[:8]), (NAME, name), (VERSION, version)):
        text = text.replace(word, value)
    return json.loads(text)
