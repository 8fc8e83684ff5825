"""The operator is down for a while: its successor finds the changes, and the job ends as it would have ended."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import pytest
from testkit.api import until
from testkit.api.resource import CHILDREN, PODS, TRAINING_JOBS
from testkit.cluster.cluster import Cluster
from testkit.control_plane.crashes import complaints, side_by_side
from testkit.harness import KINDS, Kind, Lifecycle, User, run_lifecycle
from testkit.harness.lifecycle import NAME
from testkit.harness.lifecycles import completes, fails, goes_with_its_children, is_stopped_for_good
from testkit.simulators import Fail, Preempt, RunForever, Script, StopWhenAsked, Succeed
from testkit.simulators.children import is_finished

LATER = 4
"""Seconds that a child runs: the operator sees it run, and then stops. A busy machine takes its time."""


@dataclass(frozen=True)
class Absence:
    name: str
    scripts: Sequence[Script]
    meanwhile: Callable[[User], Awaitable[None]]
    afterwards: Callable[[User], Awaitable[None]]
    spec: dict[str, Any] = field(default_factory=dict)


async def child_ends(user: User) -> None:
    async def ended() -> bool:
        found = [one for resource in CHILDREN for one in (await user.api.list(resource, user.namespace)).items]
        ours = [one for one in found if "trainwright.dev/job-uid" in one["metadata"].get("labels", {})]
        return not ours or all(is_finished(one) for one in ours)

    await until(ended, bool, seconds=60, what="the end of the child")


async def pod_goes(user: User) -> None:
    async def going() -> bool:
        pods = (await user.api.list(PODS, user.namespace)).items
        return any("deletionTimestamp" in pod["metadata"] for pod in pods)

    await until(going, bool, seconds=60, what="the deletion of a pod")


async def child_is_deleted(user: User) -> None:
    """The child is deleted manually."""
    job = await user.api.get(TRAINING_JOBS, NAME, user.namespace)
    for resource in CHILDREN:
        await user.api.delete(resource, job["status"]["child"], user.namespace)
    await child_ends(user)


async def is_suspended(user: User) -> None:
    await user.change(suspend=True)


async def is_suspended_and_resumed(user: User) -> None:
    await user.change(suspend=True)
    await user.change(suspend=False)


async def is_deleted(user: User) -> None:
    await user.delete("Background")


async def is_deleted_in_the_foreground(user: User) -> None:
    await user.delete("Foreground")
    await user.sees_no_job()


async def time_passes(user: User) -> None:  # noqa: ARG001
    await asyncio.sleep(LATER)


async def stops_and_goes_on(user: User) -> None:
    await user.sees_true("Suspended")
    await user.change(suspend=False)
    await user.sees_true("Complete")


ABSENCES = (
    Absence("it finishes", [Succeed(after=LATER)], child_ends, completes),
    Absence("it fails, and is tried again", [Fail(after=LATER), Succeed()], child_ends, completes),
    Absence("it makes a mistake", [Fail(exit_code=2, after=LATER)], child_ends, fails),
    Absence("it is preempted", [Preempt(after=LATER, terminating=LATER), Succeed()], pod_goes, completes),
    Absence("its child is deleted", [RunForever(), Succeed()], child_is_deleted, completes),
    Absence("it is suspended", [StopWhenAsked(), Succeed()], is_suspended, stops_and_goes_on),
    Absence("it is suspended and resumed", [Succeed(after=LATER)], is_suspended_and_resumed, completes),
    Absence("it is deleted", [RunForever()], is_deleted, goes_with_its_children),
    Absence("it is deleted in the foreground", [RunForever()], is_deleted_in_the_foreground, goes_with_its_children),
    Absence("its deadline passes", [RunForever()], time_passes, is_stopped_for_good, {"activeDeadlineSeconds": LATER}),
    Absence(
        "it finishes and has no time to live",
        [Succeed(after=LATER)],
        child_ends,
        goes_with_its_children,
        {"ttlSecondsAfterFinished": 0, "ttlPolicy": "DeleteJob"},
    ),
)


@pytest.mark.parametrize(
    "kind", ["ray", *(pytest.param(kind, marks=pytest.mark.slow) for kind in KINDS if kind != "ray")]
)
def test_what_happens_meanwhile_is_found(cluster: Cluster, kind: Kind) -> None:
    async def both(absence: Absence) -> list[str]:
        present = await run_lifecycle(cluster.kubeconfig, _lifecycle(absence, away=False), kind)
        away = await run_lifecycle(cluster.kubeconfig, _lifecycle(absence, away=True), kind)
        return [f"{absence.name}: {line}" for line in complaints(away, present.state)]

    async def run_all() -> list[str]:
        return [line for results in await side_by_side(map(both, ABSENCES), at_once=len(ABSENCES)) for line in results]

    wrong = asyncio.run(run_all())
    assert not wrong, "\n".join(wrong)


def _lifecycle(absence: Absence, *, away: bool) -> Lifecycle:
    async def scenario(user: User) -> None:
        await user.sees("the running phase", lambda job: job.get("status", {}).get("phase") == "Running")
        if away:
            await user.operators.stop()
        await absence.meanwhile(user)
        if away:
            await _nobody_has_told(user)
            user.operators.start()
        await absence.afterwards(user)

    return Lifecycle(absence.name, absence.scripts, scenario, absence.spec)


def test_preemption_that_nobody_saw_is_a_loss(cluster: Cluster) -> None:
    """The pod is gone with its status, and the Job only reports its failure."""
    absence = Absence("it is preempted", [Preempt(after=LATER), Succeed()], child_ends, completes)
    result = asyncio.run(run_lifecycle(cluster.kubeconfig, _lifecycle(absence, away=True), "local"))
    ends = [attempt["outcome"] for attempt in result.state[NAME]["attempts"]]
    assert (ends, result.state[NAME]["retries"]) == (["infrastructure", "done"], 1)


async def _nobody_has_told(user: User) -> None:
    """Check that no outcome was posted: otherwise the operator was back in time, and this tests nothing."""
    job = await user.api.find(TRAINING_JOBS, NAME, user.namespace)
    assert job is None or job["status"]["phase"] == "Running"
