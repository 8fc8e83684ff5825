"""A job with a range of workers, with a real API server: nodes leave and come, and its child changes its size."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal

import pytest
from testkit.api import Manifest
from testkit.api.resource import EVENTS, RAY_JOBS, TRAINING_JOBS
from testkit.cluster.cluster import Cluster
from testkit.harness import Lifecycle, User
from testkit.harness.lifecycle import NAME, run_lifecycle_under
from testkit.harness.operators import FAST, Operators
from testkit.harness.writes import Kill, Writes
from testkit.simulators import StopWhenAsked, Succeed

from trainwright_operator.settings import Resize

SETTINGS = replace(FAST, resize=Resize(window=4.0, interval=2.0, shrink_after=1.0))
CRASHES = 3
CACHE = {"volumes": [{"name": "cache", "emptyDir": {}}], "volumeMounts": [{"name": "cache", "mountPath": "/cache"}]}
"""Each pod has its own, so there is no preprocess stage."""
RANGE = {"num_workers": {"min": 1, "max": 4}, "resources_per_worker": {"GPU": 1}}


async def loses_and_finds_nodes(user: User) -> None:
    """Its head is on a node that stays. The operator is restarted while the job waits for the end of the window."""
    nodes = user.simulators.nodes
    await nodes.add("a-head")
    await nodes.add("b", gpus=2)
    leaves = await nodes.add("c", gpus=2)
    await user.change(suspend=False)
    await user.sees("4 workers", runs_with(1, 4))
    await nodes.remove(leaves)
    await user.sees("2 workers", runs_with(2, 2))
    assert await replicas(user) == [2]
    await nodes.add("d", gpus=2)
    await user.sees("the room", lambda job: _status(job).get("room", {}).get("workers") == 4)
    await user.operators.restart()
    await user.sees("4 workers again", lambda job: _status(job)["attempt"] == 3)
    await user.sees("the child of 4 workers", lambda job: "createTime" in newest(job))
    assert await replicas(user) == [4]
    await user.sees_true("Complete")
    job = await user.api.get(TRAINING_JOBS, NAME, user.namespace)
    status = _status(job)
    ends = [(one["workers"], one["outcome"], one.get("reason")) for one in status["attempts"]]
    assert ends == [(4, "stopped", "Shrinking"), (2, "stopped", "Growing"), (4, "done", "Done")]
    assert status["resizes"] == 2
    assert not {"retries", "preemptions", "requeues", "room"} & set(status)
    assert status["resolved"]["workers"] == status["resolved"]["gpus"] == 4
    smaller, larger = await events(user)
    # The first pass after the loss sees the lost pods, or those that replace them.
    assert smaller.startswith("attempt 2: from 4 to 2 workers; ")
    assert smaller.endswith("; the nodes have room for 2 of 4 workers")
    assert larger == "attempt 3: from 2 to 4 workers; there is room for 4 workers instead of 2"


def runs_with(attempt: int, workers: int) -> Callable[[Manifest], bool]:
    def holds(job: Manifest) -> bool:
        status = _status(job)
        running = status.get("attempt") == attempt and status.get("phase") == "Running"
        return running and newest(job).get("workers") == workers

    return holds


def newest(job: Manifest) -> Mapping[str, Any]:
    found: Mapping[str, Any] = max(_status(job)["attempts"], key=lambda one: one["number"])
    return found


async def replicas(user: User) -> list[int]:
    """The workers of each RayJob of the namespace."""
    children = (await user.api.list(RAY_JOBS, user.namespace)).items
    groups = [child["spec"]["rayClusterSpec"]["workerGroupSpecs"] for child in children]
    return [group["replicas"] for [group] in groups]


async def events(user: User) -> list[str]:
    found = (await user.api.list(EVENTS, user.namespace)).items
    return sorted(str(one["message"]) for one in found if one["reason"] == "Resized")


ELASTIC = Lifecycle(
    "nodes that leave and come",
    [StopWhenAsked(), StopWhenAsked(), Succeed()],
    loses_and_finds_nodes,
    {
        "backend": {"type": "ray", "cache_dir": "/cache", "trainer": RANGE},
        "config": {
            "input_features": [{"name": "distance", "type": "number"}],
            "output_features": [{"name": "late", "type": "binary"}],
            "trainer": {"effective_batch_size": 64},
        },
        "podTemplate": CACHE,
        "suspend": True,
        "backoffLimit": 0,
        "preemptionLimit": 0,
    },
    SETTINGS,
)


def test_a_job_follows_the_nodes_that_it_finds(exclusive_cluster_of_module: Cluster) -> None:
    """The operator sees nodes, so it watches the whole cluster, which is this test's own."""
    kubeconfig = exclusive_cluster_of_module.kubeconfig

    writes = asyncio.run(follows(kubeconfig))
    assert len(writes.done) > CRASHES


@pytest.mark.slow  # the same, some times more
@pytest.mark.parametrize("number", random.Random(7).sample(range(1, 30), CRASHES))
@pytest.mark.parametrize("when", ["before", "after"])
def test_the_operator_may_die_at_any_write(
    exclusive_cluster_of_module: Cluster, number: int, when: Literal["before", "after"]
) -> None:
    writes = asyncio.run(follows(exclusive_cluster_of_module.kubeconfig, Kill(number, when)))
    assert writes.crashes == 1


async def follows(kubeconfig: Path, *kills: Kill) -> Writes:
    writes = Writes(kills)
    found = await run_lifecycle_under(kubeconfig, ELASTIC, "ray", lambda _: Operators(kubeconfig, SETTINGS, writes))
    assert (list(found.violations), list(found.orphans)) == ([], [])
    return writes


def _status(job: Manifest) -> Mapping[str, Any]:
    status: Mapping[str, Any] = job.get("status", {})
    return status
