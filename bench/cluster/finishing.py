"""Time from `apply` until jobs are done: a fake KubeRay sets the statuses of their RayJobs at once, without pods."""

from __future__ import annotations

import asyncio

from testkit.simulators import Simulators

from bench.cluster import jobs, program
from bench.cluster.environment import NAMESPACE, environment
from bench.cluster.starting import SETTLE_SECONDS, WARM_UP
from bench.results import Result, result

USER = "operator"


async def run(count: int) -> dict[str, Result]:
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
