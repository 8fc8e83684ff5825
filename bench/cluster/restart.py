"""The operator restarts beside finished jobs and their RayJobs: measures the time, the memory and the writes."""

from __future__ import annotations

import asyncio

from testkit.api import Manifest, until_object
from testkit.api.resource import RAY_JOBS, SECRETS, TRAINING_JOBS
from testkit.harness.jobs import training_job
from testkit.simulators import Simulators

from bench.cluster import jobs, program
from bench.cluster.environment import AT_ONCE, NAMESPACE, OPERATORS_OWN, Environment, Requests, environment
from bench.cluster.jobs import filled, template
from bench.results import Result, result
from trainwright_operator.server.certificate_rotator import SECRET_NAME

USER = "operator"
IDLE_SECONDS = 60.0
READS = ("get", "list", "watch")


async def run(count: int, idle: float = IDLE_SECONDS) -> dict[str, Result]:
    async with environment() as here:
        await populate(here, count)
        kubeconfig = here.as_user(USER)
        async with program.running(program.OPERATOR, kubeconfig, here.folder / "first.log") as first:
            # Let it finish all writes that are still due.
            await first.says(program.LOOKED_AT)
        before = here.requests(USER)
        async with program.running(program.OPERATOR, kubeconfig, here.folder / "second.log") as second:
            seconds, cpu = await second.says(program.LOOKED_AT), second.cpu_seconds
            at_once = second.peak_mib
            caught_up = here.requests(USER)
            await asyncio.sleep(idle)
            still = here.requests(USER) - caught_up
            idle_cpu = second.cpu_seconds - cpu
            return {
                f"{count:,} finished jobs: caught up": result(seconds, "s", "≤ 30"),
                f"{count:,} finished jobs: processor time": result(cpu, "s"),
                f"{count:,} finished jobs: peak memory": result(second.peak_mib, "MiB", "≤ 350"),
                f"{count:,} finished jobs: memory when caught up": result(at_once, "MiB"),
                f"{count:,} finished jobs: writes": result(_writes(here.requests(USER) - before), "", "= 0"),
                "idle: requests a second and 1,000 jobs": result(still.total() / idle / (count / 1000), "", "≤ 1"),
                "idle: processor time a second": result(1000 * idle_cpu / idle, "ms"),
            }


def _writes(requests: Requests) -> int:
    """The number of writes without those of its Lease, which it renews forever."""
    return sum(number for (verb, kind), number in requests.items() if verb not in READS and kind != "leases")


async def populate(here: Environment, count: int) -> None:
    """Run one job to its end. All others are copies of it and of its RayJob, including the statuses."""
    job, ray_job = await _finished(here)
    name, uid = job["metadata"]["name"], job["metadata"]["uid"]
    whole = template({"status": job["status"], "child": ray_job}, name, uid)
    names = asyncio.Queue[str]()
    for another in jobs.names("job", count - 1):
        names.put_nowait(another)
    async with asyncio.TaskGroup() as group:
        for _ in range(AT_ONCE):
            group.create_task(_copy(here, names, whole))


async def _finished(here: Environment) -> tuple[Manifest, Manifest]:
    name = "original-000000"
    operator = program.running(program.OPERATOR, here.as_user("maker"), here.folder / "maker.log")
    async with operator as ours, Simulators(here.api, NAMESPACE, pods=False):
        await ours.says(program.LISTED)
        await jobs.applied(here, [name], jobs.is_complete)
        # Created once, and found by all operators that follow.
        await until_object(here.api, SECRETS, SECRET_NAME, OPERATORS_OWN, seconds=program.TIMEOUT_SECONDS)
    job = await here.api.get(TRAINING_JOBS, name, NAMESPACE)
    return job, await here.api.get(RAY_JOBS, job["status"]["child"], NAMESPACE)


async def _copy(here: Environment, names: asyncio.Queue[str], whole: str) -> None:
    while not names.empty():
        name = names.get_nowait()
        job = await here.api.create(TRAINING_JOBS, training_job(name, "ray"), NAMESPACE)
        made = filled(whole, name, job["metadata"]["uid"])
        status = {"metadata": {"name": name}, "status": made["status"]}
        await here.api.apply(TRAINING_JOBS, status, "trainwright", NAMESPACE, "status")
        child = made["child"]
        metadata = {
            key: child["metadata"][key]
            for key in ("name", "labels", "annotations", "ownerReferences")
            if key in child["metadata"]
        }
        await here.api.create(RAY_JOBS, {"metadata": metadata, "spec": child["spec"]}, NAMESPACE)
        await here.api.patch_status(RAY_JOBS, metadata["name"], NAMESPACE, child["status"])
