"""The API server stops or is killed at many stages of a lifecycle, and comes back: the operator continues."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

import pytest
from testkit.cluster.cluster import Cluster
from testkit.control_plane.crashes import complaints
from testkit.harness import Kind, Lifecycle, LifecycleResult, User, run_lifecycle
from testkit.harness.lifecycles import completes, goes_with_its_children, is_stopped_for_good
from testkit.harness.operators import FAST
from testkit.simulators import Fail, RunForever, Script, StopWhenAsked, Succeed

from trainwright_operator.settings import Settings

SECONDS_AWAY = 0.5

# After the outage, a busy machine may take longer than the usual grace until the process learns of its stop and ends.
PATIENT = replace(FAST, stop_grace=60.0)

Act = Callable[[User], Awaitable[None]]


async def runs(user: User) -> None:
    await user.sees("the running phase", lambda job: job.get("status", {}).get("phase") == "Running")


async def waits(user: User) -> None:
    await user.sees_true("Suspended")


async def is_stopped(user: User) -> None:
    await runs(user)
    await user.change(suspend=True)
    await user.sees_true("Suspended")


async def nothing(user: User) -> None:
    """Leave the job as it is."""


async def suspend(user: User) -> None:
    await user.change(suspend=True)


async def resume(user: User) -> None:
    await user.change(suspend=False)


async def delete(user: User) -> None:
    await user.delete("Background")


async def delete_in_the_foreground(user: User) -> None:
    await user.delete("Foreground")


async def stops_and_goes_on(user: User) -> None:
    await user.sees_true("Suspended")
    await user.change(suspend=False)
    await completes(user)


@dataclass(frozen=True)
class Stage:
    """The server stops right after `act`, while the operator handles it."""

    before: Act
    act: Act
    afterwards: Act
    scripts: Sequence[Script]
    spec: Mapping[str, object] = field(default_factory=dict)
    settings: Settings = FAST


STAGES: Mapping[str, Stage] = {
    "it begins": Stage(waits, resume, completes, [Succeed()], {"suspend": True}),
    "it runs": Stage(runs, nothing, completes, [Fail(after=2.0), Fail(), Succeed()]),
    "its end comes": Stage(runs, nothing, completes, [Succeed(after=2.0)]),
    "its deadline comes": Stage(runs, nothing, is_stopped_for_good, [RunForever()], {"activeDeadlineSeconds": 3}),
    "it is to stop": Stage(runs, suspend, stops_and_goes_on, [StopWhenAsked(after=0.5), Succeed()], settings=PATIENT),
    "it is to go on": Stage(is_stopped, resume, completes, [StopWhenAsked(), Succeed(after=0.5)], settings=PATIENT),
    "it is deleted": Stage(runs, delete, goes_with_its_children, [RunForever()]),
    "it is deleted in the foreground": Stage(runs, delete_in_the_foreground, goes_with_its_children, [RunForever()]),
}


class Outage:
    """One outage for all lifecycles. It starts when each of them has finished its act."""

    def __init__(self, cluster: Cluster, kill: bool) -> None:
        self._cluster, self._kill = cluster, kill
        self._ready, self._acted, self._over = (
            asyncio.Barrier(len(STAGES)),
            asyncio.Barrier(len(STAGES)),
            asyncio.Event(),
        )

    async def comes(self, act: Awaitable[None]) -> None:
        await self._ready.wait()
        await act
        if await self._acted.wait() == 0:
            await asyncio.to_thread(self._cluster.stop_api_server, self._kill)
            await asyncio.sleep(SECONDS_AWAY)
            await asyncio.to_thread(self._cluster.start_api_server)
            self._over.set()
        await self._over.wait()


@pytest.mark.parametrize(
    ("kind", "kill"),
    [
        ("ray", True),
        pytest.param("gang", False, marks=pytest.mark.slow),
        pytest.param("local", True, marks=pytest.mark.slow),
        pytest.param("local", False, marks=pytest.mark.slow),
        pytest.param("gang", True, marks=pytest.mark.slow),
        pytest.param("ray", False, marks=pytest.mark.slow),
    ],
)
def test_at_every_stage(exclusive_cluster_of_module: Cluster, kind: Kind, kill: bool) -> None:
    cluster = exclusive_cluster_of_module

    async def scenario() -> list[str]:
        undisturbed = await _results(cluster, kind, None)
        disturbed = await _results(cluster, kind, Outage(cluster, kill))
        both = zip(STAGES, disturbed, undisturbed, strict=True)
        return [f"{name}: {line}" for name, after, before in both for line in complaints(after, before.state)]

    wrong = asyncio.run(scenario())
    assert not wrong, "\n".join(wrong)


async def _results(cluster: Cluster, kind: Kind, outage: Outage | None) -> Sequence[LifecycleResult]:
    """Run all stages in parallel."""
    lifecycles = [_lifecycle(name, stage, outage) for name, stage in STAGES.items()]
    return await asyncio.gather(*(run_lifecycle(cluster.kubeconfig, lifecycle, kind) for lifecycle in lifecycles))


def _lifecycle(name: str, stage: Stage, outage: Outage | None) -> Lifecycle:
    async def scenario(user: User) -> None:
        await stage.before(user)
        await (outage.comes(stage.act(user)) if outage is not None else stage.act(user))
        await stage.afterwards(user)

    return Lifecycle(name, stage.scripts, scenario, stage.spec, stage.settings)
