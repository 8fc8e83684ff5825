"""Attempts that do not start, with a real API server: capacity for a part of a gang, and a missing image."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Mapping
from typing import Any

import pytest
from testkit.api import Manifest, condition
from testkit.api.resource import TRAINING_JOBS
from testkit.cluster.cluster import Cluster
from testkit.control_plane.crashes import calm, every_crash, side_by_side
from testkit.harness import Kind, Lifecycle, LifecycleResult, User, run_lifecycle
from testkit.harness.lifecycle import NAME
from testkit.simulators import NeverStart, Succeed

GANG = {"type": "ray", "cache_dir": "/cache", "trainer": {"num_workers": 3, "resources_per_worker": {"GPU": 1}}}
CACHE = {"volumes": [{"name": "cache", "emptyDir": {}}], "volumeMounts": [{"name": "cache", "mountPath": "/cache"}]}
"""Each pod has its own, so there is no preprocess stage."""
IMAGE = "registry.example.com/nowhere:1"
CRASHES, AT_ONCE = 4, 2


async def gets_its_room_later(user: User) -> None:
    """Two of its three workers find a GPU, until another node comes. The deadline of its start is then extended."""
    await user.sees_true("Suspended")
    await user.simulators.nodes.add("small", gpus=2)
    await user.change(suspend=False)
    await user.sees("room that was given back", gave_room_back)
    await user.change(startDeadlineSeconds=900)
    await user.simulators.nodes.add("another", gpus=1)
    await user.sees_true("Complete")
    status = (await user.api.get(TRAINING_JOBS, NAME, user.namespace))["status"]
    assert not {"retries", "preemptions", "requeues"} & set(status)
    given_back = [one for one in status["attempts"] if one.get("reason") == "Unschedulable"]
    assert {(one["outcome"], "startTime" in one) for one in given_back} == {("stopped", False)}


def gave_room_back(job: Manifest) -> bool:
    return bool(_status(job).get("requeues", 0) >= 1 and _status(job)["phase"] == "Queued")


async def fails_with_its_image(user: User) -> None:
    await user.sees_true("Failed")
    job = await user.api.get(TRAINING_JOBS, NAME, user.namespace)
    assert condition(job, "Failed") == "True"
    assert f"image {IMAGE} could not be pulled within startDeadlineSeconds (5 s)" in _status(job)["message"]


ROOM_LATER = Lifecycle(
    "room that comes later",
    [Succeed()],
    gets_its_room_later,
    {
        "backend": GANG,
        "podTemplate": CACHE,
        "suspend": True,
        "startDeadlineSeconds": 1,
        "backoffLimit": 0,
        "preemptionLimit": 0,
    },
)
NO_IMAGE = Lifecycle(
    "an image that is nowhere",
    [NeverStart(reason="ImagePullBackOff", message="Back-off pulling image", before=Succeed())],
    fails_with_its_image,
    {"image": IMAGE, "startDeadlineSeconds": 5},
)


def result(cluster: Cluster, lifecycle: Lifecycle, kind: Kind) -> LifecycleResult:
    return asyncio.run(run_lifecycle(cluster.kubeconfig, lifecycle, kind))


def test_a_gang_gives_back_the_room_that_it_found_until_there_is_enough(cluster: Cluster) -> None:
    found = result(cluster, ROOM_LATER, "ray")
    assert (list(found.violations), list(found.orphans)) == ([], [])


def test_the_operator_may_die_while_it_gives_room_back(cluster: Cluster) -> None:
    """The number of tries depends on time, so the lifecycle is not identical, but it ends as well."""

    async def run_all() -> None:
        undisturbed = await calm(cluster.kubeconfig, ROOM_LATER, "ray")
        crashes = random.Random(CRASHES).sample(every_crash(len(undisturbed.writes.done)), CRASHES)
        found = await side_by_side(
            (run_lifecycle(cluster.kubeconfig, ROOM_LATER, "ray", [kill]) for kill in crashes), AT_ONCE
        )
        for kill, one in zip(crashes, found, strict=True):
            assert (list(one.violations), list(one.orphans)) == ([], []), f"{kill}: {one.writes.done}"

    asyncio.run(run_all())


@pytest.mark.parametrize("kind", ["local", "ray"])
def test_an_image_that_cannot_be_pulled_ends_the_job(cluster: Cluster, kind: Kind) -> None:
    found = result(cluster, NO_IMAGE, kind)
    assert (list(found.violations), list(found.orphans)) == ([], [])


def _status(job: Manifest) -> Mapping[str, Any]:
    status: Mapping[str, Any] = job.get("status", {})
    return status
