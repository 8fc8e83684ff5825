"""Edits of a live job's spec and objects, and an erased status: the operator makes no hot loop, and the job ends."""

from __future__ import annotations

import asyncio
import copy
import random
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import pytest
from testkit.api import Api, ApiError, Manifest, NotReached, condition, until
from testkit.api.resource import NAMESPACES, TRAINING_JOBS
from testkit.cluster.cluster import Cluster
from testkit.control_plane.faulty_lifecycle import tracebacks
from testkit.control_plane.manual_edits import ManualEditor
from testkit.harness import EVERY_KIND, FAST, Operators, training_job
from testkit.harness.seeds import rotating
from testkit.proxy import Proxy
from testkit.simulators import Fail, Script, Scripts, Simulators, Succeed

AT_ONCE = 12
SECONDS_WATCHED = 1.0
REQUESTS_A_SECOND = 60
REQUESTS_OF_A_LIFE = 250
"""At least twice the need of the longest of these lifecycles."""
SECONDS_TO_END = 90.0
SETTINGS = replace(FAST, stop_grace=1.0, resync=2.0)


@dataclass(frozen=True)
class Bench:
    api: Api
    proxy: Proxy
    simulators: Simulators
    namespace: str

    def requests(self, name: str, since: float = 0.0) -> Sequence[str]:
        """The operator's requests for this job and its objects."""
        sent = [one for one in self.proxy.sendings.all if f"/{name}" in one.target and one.time >= since]
        return [f"{one.method} {one.target}" for one in sent]


@pytest.mark.parametrize("first", range(0, 24, AT_ONCE))
def test_no_manual_edit_stops_a_job_from_ending(
    cluster: Cluster, tmp_path: Path, caplog: pytest.LogCaptureFixture, first: int
) -> None:
    asyncio.run(_meddled(cluster, tmp_path, range(first, first + AT_ONCE)))
    assert tracebacks(caplog) == []


@pytest.mark.slow
@pytest.mark.parametrize("part", range(10))
def test_no_manual_edit_out_of_500_stops_a_job_from_ending(
    cluster: Cluster, tmp_path: Path, caplog: pytest.LogCaptureFixture, part: int
) -> None:
    seed = rotating() + 1_000_000 * part
    asyncio.run(_meddled(cluster, tmp_path, range(seed, seed + 50)))
    assert tracebacks(caplog) == []


async def _meddled(cluster: Cluster, folder: Path, seeds: Sequence[int]) -> None:
    async with Api(cluster.kubeconfig) as api, Proxy(cluster.kubeconfig, folder) as proxy:
        namespace = await api.make_namespace("editor")
        settings = replace(SETTINGS, namespaces=(namespace,))
        async with Simulators(api, namespace, Scripts()) as simulators, Operators(proxy.kubeconfig, settings):
            bench, gate = Bench(api, proxy, simulators, namespace), asyncio.Semaphore(AT_ONCE)
            results: list[str] = await asyncio.gather(*[_one(bench, gate, seed) for seed in seeds])
        await api.delete(NAMESPACES, namespace)
    wrong = [line for line in results if line]
    assert not wrong, "\n\n".join(wrong)


async def _one(bench: Bench, gate: asyncio.Semaphore, seed: int) -> str:
    """The error of the job of this seed, "" if there is none."""
    did: list[str] = []
    async with gate:
        try:
            await _lifecycle(bench, seed, did)
        except (AssertionError, ApiError) as error:
            return f"seed {seed} ({did}): {error}"
    return ""


async def _lifecycle(bench: Bench, seed: int, did: list[str]) -> None:
    draw, name = random.Random(seed), f"flights-{seed:03}"
    choices: list[list[Script]] = [[Succeed(after=1.5)], [Fail(after=0.5), Succeed(after=1.0)]]
    bench.simulators.scripts.give(bench.namespace, name, *draw.choice(choices))
    editor = ManualEditor(bench.api, bench.namespace, name, draw)
    wanted = training_job(name, EVERY_KIND[seed % len(EVERY_KIND)])
    made = await bench.api.create(TRAINING_JOBS, wanted, bench.namespace)
    await _sees(editor, draw.choice([_exists, _began, _runs, _runs, _runs, _ended]), "a moment to meddle")
    since = asyncio.get_running_loop().time()
    did.append(await editor.meddle())
    await asyncio.sleep(SECONDS_WATCHED)
    seen = bench.requests(name, since)
    assert len(seen) < REQUESTS_A_SECOND * (asyncio.get_running_loop().time() - since), f"a hot loop: {seen[-10:]}"
    await _undone(editor, made)
    await _sees(editor, _ended, "the end")
    assert len(bench.requests(name)) < REQUESTS_OF_A_LIFE, f"a hot loop: {bench.requests(name)[-10:]}"


async def _undone(editor: ManualEditor, made: Manifest) -> None:
    """The owner repairs the spec, and `resolved` after a manual edit, because the operator starts from it."""
    while not await _put_back(editor, made):
        pass
    if not _ended(await editor.job()):
        await editor.api.patch_status(TRAINING_JOBS, editor.name, editor.namespace, {"resolved": None})


async def _put_back(editor: ManualEditor, made: Manifest) -> bool:
    """Put the spec back. False after a conflict, for a retry. Immutable fields keep the manual edit."""
    job = await editor.job()
    job["metadata"]["finalizers"] = []
    try:
        await editor.put({**job, "spec": copy.deepcopy(made["spec"])})
    except ApiError as error:
        if error.code not in (409, 422):
            raise
        return error.code == 422
    return True


async def _sees(editor: ManualEditor, holds: object, what: str) -> None:
    assert callable(holds)
    try:
        await until(editor.job, holds, seconds=SECONDS_TO_END, what=f"{what} of {editor.name}")
    except NotReached as error:
        raise AssertionError(str(error)) from None


def _exists(job: Manifest) -> bool:
    return bool(job)


def _began(job: Manifest) -> bool:
    return "startTime" in job.get("status", {}) or _ended(job)


def _runs(job: Manifest) -> bool:
    return job.get("status", {}).get("phase") == "Running" or _ended(job)


def _ended(job: Manifest) -> bool:
    return "True" in (condition(job, "Complete"), condition(job, "Failed"))
