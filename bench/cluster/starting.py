"""Time from `apply` until RayJobs exist and statuses are written: baseline and operator in turn, on fresh clusters."""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median

from bench.cluster import baseline, jobs, program
from bench.cluster.environment import Requests, environment
from bench.cluster.recording import record
from bench.results import Result, result

WARM_UP = 16
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


async def run(count: int, rounds: int) -> dict[str, Result]:
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
