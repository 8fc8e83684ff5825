"""Random jobs, owners who change their specs, and an operator that crashes all the time: everything converges."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Sequence
from dataclasses import dataclass, replace

import pytest
from testkit.api import Api, ApiError, Manifest, until
from testkit.api.resource import NAMESPACES, TRAINING_JOBS
from testkit.cluster.cluster import Cluster
from testkit.control_plane import fleet
from testkit.control_plane.faulty_lifecycle import tracebacks
from testkit.control_plane.fleet import Planned
from testkit.harness import FAST, Kill, Operators, Writes, nothing_left, orphans
from testkit.harness.seeds import rotating
from testkit.simulators import Scripts, Simulators

SETTINGS = replace(FAST, stop_grace=2.0, resync=3.0)
WRITES_BETWEEN_CRASHES = 25
CRASHES = 200
"""More than will happen: each at its own write."""
SECONDS_TO_CONVERGE = 300.0
"""Each crash costs a start of the operator, which is slow on a busy machine."""


@pytest.mark.parametrize("seed", [1, pytest.param(2, marks=pytest.mark.slow)])
def test_everything_converges_and_nothing_is_left(
    cluster: Cluster, caplog: pytest.LogCaptureFixture, seed: int
) -> None:
    asyncio.run(_run_all(cluster, random.Random(seed), 30))
    assert tracebacks(caplog) == []


@pytest.mark.slow
@pytest.mark.parametrize("part", range(20))
def test_1000_random_lifecycles_converge(cluster: Cluster, caplog: pytest.LogCaptureFixture, part: int) -> None:
    asyncio.run(_run_all(cluster, random.Random(rotating() + 1_000_000 * part), 50))
    assert tracebacks(caplog) == []


@dataclass(frozen=True)
class Owner:
    """The owner of one job. Refusals by the API server are ignored, because the job may be gone."""

    api: Api
    namespace: str
    job: Planned

    async def acts(self, draw: random.Random) -> None:
        await asyncio.sleep(draw.uniform(0.0, 2.0))
        await self.api.create(TRAINING_JOBS, self.job.manifest, self.namespace)
        for _ in range(draw.choice([0, 0, 1, 2, 3])):
            await asyncio.sleep(draw.uniform(0.0, 1.5))
            await self._act(draw.choice(["suspend", "resume", "change", "change"]), draw)
        # At the end most suspended jobs are resumed; a few stay suspended.
        if draw.random() < 0.15:
            await self._act("delete", draw)
        elif self.job.suspended and draw.random() < 0.8:
            await self._act("resume", draw)

    async def _act(self, what: str, draw: random.Random) -> None:
        self.job.done.append(what)
        try:
            match what:
                case "suspend" | "resume":
                    self.job.suspended = what == "suspend"
                    self.job.was_suspended |= self.job.suspended
                    await self._change({"suspend": self.job.suspended})
                case "change":
                    await self._change({"podTemplate": draw.choice([None, *fleet.TEMPLATES])})
                case "delete":
                    self.job.deleted = True
                    policy = draw.choice(["Background", "Foreground"])
                    await self.api.delete(TRAINING_JOBS, self.job.name, self.namespace, policy=policy)
        except ApiError as error:
            if error.code != 404:
                raise

    async def _change(self, spec: Manifest) -> None:
        await self.api.patch(TRAINING_JOBS, self.job.name, self.namespace, {"spec": spec})


async def _run_all(cluster: Cluster, draw: random.Random, count: int) -> None:
    jobs = [fleet.planned(draw, f"job-{number}") for number in range(count)]
    writes = Writes(_crashes(draw))
    async with Api(cluster.kubeconfig) as api:
        namespace = await api.make_namespace("lifecycles")
        scripts = Scripts()
        for job in jobs:
            scripts.give(namespace, job.name, *job.scripts)
        settings = replace(SETTINGS, namespaces=(namespace,))
        async with Simulators(api, namespace, scripts) as simulators, Operators(cluster.kubeconfig, settings, writes):
            async with asyncio.TaskGroup() as owners:
                for job in jobs:
                    owners.create_task(Owner(api, namespace, job).acts(random.Random(draw.random())))
            await _converge(api, namespace, jobs)
            await writes.quiet(1.0)
            assert writes.crashes > 0
            assert await orphans(api, namespace) == []
            await _delete_all(api, namespace, jobs)
        await api.delete(NAMESPACES, namespace)
    assert simulators.record.violations() == []


def _crashes(draw: random.Random) -> Sequence[Kill]:
    kills, write = [], 0
    for _ in range(CRASHES):
        write += draw.randint(1, 2 * WRITES_BETWEEN_CRASHES)
        kills.append(Kill(write, draw.choice(["before", "after"])))
    return kills


async def _converge(api: Api, namespace: str, jobs: Sequence[Planned]) -> None:
    async def complaints() -> list[str]:
        seen = {job["metadata"]["name"]: job for job in (await api.list(TRAINING_JOBS, namespace)).items}
        results = [(job, fleet.wrong(job, seen.get(job.name))) for job in jobs]
        return [f"{what}: {job}; {seen.get(job.name, {}).get('status')}" for job, what in results if what]

    what = f"an end of all jobs in {namespace}"
    await until(complaints, lambda found: not found, seconds=SECONDS_TO_CONVERGE, what=what)


async def _delete_all(api: Api, namespace: str, jobs: Sequence[Planned]) -> None:
    for job in jobs:
        await api.delete(TRAINING_JOBS, job.name, namespace)
    await nothing_left(api, namespace, seconds=60.0)
