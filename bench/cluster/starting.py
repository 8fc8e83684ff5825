"""Time from apply until jobs start and are done; a fake KubeRay sets the statuses of their RayJobs, without pods."""

from __future__ import annotations

import asyncio
import json
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import median
from typing import Any

from testkit.api.resource import TRAINING_JOBS
from testkit.simulators import Simulators

from bench.cluster import baseline, jobs, program
from bench.cluster.environment import NAMESPACE, Environment, Requests, environment
from bench.cluster.jobs import VERSION, template
from bench.results import Result, result
from trainwright_operator.controller.operator import Operator
from trainwright_operator.kube.client import JSON, Client, Json
from trainwright_operator.kube.connection import Connection
from trainwright_operator.settings import Settings

WARM_UP = 3
"""Jobs before the clock starts: they open connections, and the API server does its first-object work for each kind."""
SETTLE_SECONDS = 2.0
"""Wait after the last status write, because its event follows."""


@dataclass(frozen=True)
class Started:
    """`seconds` is wall-clock time, `cpu` is the CPU time of the program alone."""

    seconds: float
    cpu: float
    peak_mib: float
    requests: Requests


async def measure(user: str, arguments: Sequence[str], ready: str, count: int) -> Started:
    """Let one program start `count` jobs."""
    async with environment() as here:
        log = here.folder / f"{user}.log"
        async with program.running(arguments, here.as_user(user), log) as one:
            await one.says(ready)
            await jobs.applied(here, jobs.names("warm", WARM_UP), jobs.is_started)
            await asyncio.sleep(SETTLE_SECONDS)
            before, cpu = here.requests(user), one.cpu_seconds
            seconds = await jobs.applied(here, jobs.names("job", count), jobs.is_started)
            cpu = one.cpu_seconds - cpu
            await asyncio.sleep(SETTLE_SECONDS)
            await jobs.check_children(here, WARM_UP + count)
            return Started(seconds, cpu, one.peak_mib, here.requests(user) - before)


async def until_started(count: int, rounds: int) -> dict[str, Result]:
    ours, theirs = [], []
    with tempfile.TemporaryDirectory() as folder:
        recording = Path(folder) / "recording.json"
        async with environment() as here:
            await record(here, recording)
        for _ in range(rounds):
            theirs.append(await measure("baseline", ("-m", baseline.__name__, str(recording)), baseline.READY, count))
            ours.append(await measure("operator", program.OPERATOR, program.LISTED, count))
    return {**_compared(count, ours, theirs), **_per_job(count, ours[-1].requests)}


def _compared(count: int, ours: Sequence[Started], baselines: Sequence[Started]) -> dict[str, Result]:
    ratio = median(one.seconds / other.seconds for one, other in zip(ours, baselines, strict=True))
    found = {f"{count:,} jobs → RayJobs": result(ratio, "× baseline", "≤ 1.3")}
    for name, runs in (("baseline", baselines), ("ours", ours)):
        found[f"{name}: {count:,} jobs → RayJobs"] = result(median(one.seconds for one in runs), "s")
        cpu = median(one.cpu for one in runs) / count
        found[f"{name}: processor time a job"] = result(1000 * cpu, "ms")
        found[f"{name}: peak memory"] = result(median(one.peak_mib for one in runs), "MiB")
    return found


def _per_job(count: int, requests: Requests) -> dict[str, Result]:
    """Only requests for single jobs: lists and watches serve all jobs."""
    single = {key: number for key, number in requests.items() if key[0] not in ("list", "watch") and key[1] != "leases"}
    found = {"requests a job": result(sum(single.values()) / count, "", "≤ 8")}
    for (verb, resource), number in sorted(single.items(), key=lambda item: -item[1]):
        found[f"requests a job: {verb} {resource}"] = result(number / count, "")
    return found


USER = "operator"


async def until_done(count: int) -> dict[str, Result]:
    async with environment() as here:
        operator = program.running(program.OPERATOR, here.as_user(USER), here.folder / "operator.log")
        async with operator as ours, Simulators(here.api, NAMESPACE, pods=False):
            await ours.says(program.LISTED)
            await jobs.applied(here, jobs.names("warm", WARM_UP), jobs.is_complete)
            await asyncio.sleep(SETTLE_SECONDS)
            before, cpu = here.requests(USER), ours.cpu_seconds
            seconds = await jobs.applied(here, jobs.names("job", count), jobs.is_complete)
            cpu = ours.cpu_seconds - cpu
            await asyncio.sleep(SETTLE_SECONDS)
            sent = here.requests(USER) - before
    single = sum(number for (verb, kind), number in sent.items() if verb not in ("list", "watch") and kind != "leases")
    return {
        f"{count:,} jobs → done": result(seconds, "s"),
        f"{count:,} jobs → done: processor time a job": result(1000 * cpu / count, "ms"),
        f"{count:,} jobs → done: requests a job": result(single / count, ""),
    }


_DEFAULTS = {"query": None, "body": None, "content_type": JSON}
JOBS_BEFORE_RECORDING = 3


class Recorder(Client):
    """The operator's own client, which records the requests for single jobs. Events are excluded."""

    requests: list[dict[str, Any]]

    async def request(self, method: str, path: str, **sending: Any) -> Json:
        if f"/namespaces/{NAMESPACE}/" in path and not path.endswith("/events"):
            sent = {name: sending.get(name, default) for name, default in _DEFAULTS.items()}
            self.requests.append({"method": method, "path": path, **sent})
        return await super().request(method, path, **sending)


async def record(environment: Environment, path: Path) -> None:
    """Write the requests of one job, in their order, as templates."""
    connection = await Connection.open(str(environment.cluster.kubeconfig))
    async with Recorder(connection) as client:
        client.requests = []
        async with Operator(client, replace(Settings(), identity="recorder")):
            await jobs.applied(environment, jobs.names("warm", JOBS_BEFORE_RECORDING), jobs.is_started)
            client.requests.clear()
            (name,) = jobs.names("recorded", 1)
            await jobs.applied(environment, [name], jobs.is_started)
    job = await environment.api.get(TRAINING_JOBS, name, NAMESPACE)
    path.write_text(json.dumps(_templates(client.requests, name, job["metadata"]["uid"])))


def _templates(requests: Sequence[Mapping[str, Any]], name: str, uid: str) -> Sequence[str]:
    own = [sent for sent in requests if name in json.dumps(sent)]
    for sent in own:
        if "resourceVersion" in ((sent["body"] or {}).get("metadata") or {}):
            sent["body"]["metadata"]["resourceVersion"] = VERSION
    return [template(sent, name, uid) for sent in own]
