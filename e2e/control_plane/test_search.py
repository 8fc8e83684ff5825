"""A search on a real API server: the size of its cluster, its ends, and its trials in the status."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import Any

import pytest
from testkit.api import until
from testkit.api.resource import RAY_JOBS
from testkit.cluster.cluster import Cluster
from testkit.control_plane.posting_job import Job
from testkit.harness import LIFECYCLES, run_lifecycle
from testkit.harness.jobs import SPEC
from testkit.harness.lifecycle import User
from testkit.server.running import server

RATE = {"trainer.learning_rate": {"space": "uniform", "lower": 0.1, "upper": 1}}
EXECUTOR = {"num_samples": 12, "max_concurrent_trials": 3, "cpu_resources_per_trial": 2}
SEARCH: dict[str, Any] = {
    "task": "hyperopt",
    "config": {**SPEC["config"], "hyperopt": {"parameters": RATE, "executor": EXECUTOR}},
    "backend": {"type": "ray"},
}


NAMES = (
    "success",
    "two crashes, then success",
    "a lost head, then success",
    "a preemption, then success",
    "suspended and resumed",
    "suspended without an answer",
    "the deadline",
)


@pytest.mark.parametrize("name", NAMES)
def test_a_search_ends_as_a_training_does(cluster: Cluster, name: str) -> None:
    lifecycle = LIFECYCLES[name]
    seen: list[Any] = []

    async def scenario(user: User) -> None:
        children = await until(
            lambda: user.api.list(RAY_JOBS, user.namespace), lambda found: found.items, what="a child"
        )
        seen.extend(children.items)
        await lifecycle.scenario(user)
        await user.sees("three workers", lambda job: job["status"]["resolved"]["workers"] == 3)

    search = replace(lifecycle, spec={**lifecycle.spec, **SEARCH}, scenario=scenario)
    result = asyncio.run(run_lifecycle(cluster.kubeconfig, search, "ray"))
    assert (result.violations, result.orphans) == ([], [])
    (group,) = seen[0]["spec"]["rayClusterSpec"]["workerGroupSpecs"]
    assert (group["replicas"], group["rayStartParams"]["num-cpus"]) == (3, "2")


def test_the_trials_are_in_the_status_and_kubectl_prints_them(cluster: Cluster, namespace: str) -> None:
    best = {"name": "0003", "score": 0.742, "state": "done", "values": "rate 0.1", "folder": "s3://b/run/trials/0003"}
    progress = {
        "fraction": 0.5,
        "etaSeconds": 180,
        "validationMetric": {"name": "roc_auc", "value": 0.742},
        "trials": {"total": 12, "finished": 6, "failed": 1, "running": 2, "best": [best]},
    }

    async def scenario() -> Any:
        async with server(cluster, namespace, interval=3600) as running:
            job = await Job(running, namespace, "late").begin()
            answer = await job.post(await job.token(), progress=progress)
            get = ("get", "tj", "late", f"-n={namespace}", "--no-headers")
            return answer, await job.status(), await asyncio.to_thread(cluster.kubectl, *get)

    answer, status, row = asyncio.run(scenario())
    assert answer == (200, {"stop": False, "reason": ""})
    assert status["progress"]["trials"] == progress["trials"]
    assert "6/12 trials 3m left" in row
    assert "roc_auc=0.742" in row
