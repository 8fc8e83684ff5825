"""A job with a range of workers on real nodes: it grows when a node comes, and goes on without a node that fails."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from testkit.cluster.node import full_cluster as cluster
from testkit.cluster.node.cluster_folder import FIRST, SECOND, ClusterFolder
from testkit.full_cluster import jobs, objects, release
from testkit.full_cluster.bucket import Bucket
from testkit.full_cluster.full_cluster import FullCluster

NAME = "elastic"
SOON = ("window=5", "interval=1", "shrinkAfter=20")
CPU = "900m"
"""The request of a worker: beside the head and the operator, the first node has room for one."""
GREW, SHRANK = (1, "stopped", "Growing"), (2, "stopped", "Shrinking")


@pytest.fixture
def eager(operator: FullCluster) -> Iterator[FullCluster]:
    """The operator, which resizes jobs within seconds."""
    release.install(operator, release.KEYS_ALLOWED, *(f"--set=settings.resize.{setting}" for setting in SOON))
    yield operator
    release.install(operator, release.KEYS_ALLOWED)


def test_it_follows_the_nodes_and_goes_on_from_its_checkpoints(
    eager: FullCluster, inside: ClusterFolder, namespace: str, bucket: Bucket
) -> None:
    job = jobs.on_ray(NAME, bucket)
    job["spec"]["config"] = {**jobs.CONFIG, "trainer": jobs.ENDLESS}
    job["spec"]["checkpoint"] = {"everySeconds": 3}
    job["spec"]["backend"]["trainer"]["num_workers"] = {"min": 1, "max": 2}
    job["spec"]["podTemplate"]["resources"]["requests"]["cpu"] = CPU
    job["spec"]["podTemplate"]["affinity"] = {"podAffinity": jobs.NEAR_KUBERAY}

    def until(*sizes: tuple[Any, ...], seconds: float) -> list[int]:
        """Wait until the attempts are these and the last one trains. Return the rows at which they started."""
        seen = objects.until(
            lambda: objects.one(eager.kubectl, namespace, "tj", NAME),
            trains_in(*sizes),
            seconds=seconds,
            what=f"{sizes}",
        )
        return [attempt["position"] for attempt in attempts(seen)]

    with cluster.another(inside) as second:
        eager.kubectl("cordon", SECOND.name)
        jobs.apply(eager.kubectl, namespace, jobs.keys(eager), job)
        until((1, None, None), seconds=400)
        eager.kubectl("uncordon", SECOND.name)
        until(GREW, (2, None, None), seconds=400)
        workers = objects.several(eager.kubectl, namespace, "pods", "ray.io/node-type=worker")
        assert sorted(pod["spec"]["nodeName"] for pod in workers) == [FIRST.name, SECOND.name]
        second.kill()
        started = until(GREW, SHRANK, (1, None, None), seconds=600)
    assert 0 == started[0] < started[1] < started[2]
    status = objects.one(eager.kubectl, namespace, "tj", NAME)["status"]
    assert status["resizes"] == 2
    assert not {"retries", "preemptions", "requeues"} & set(status)
    eager.kubectl("delete", f"-n={namespace}", "tj", NAME)
    # Its pods write into the bucket until they are gone.
    eager.kubectl("wait", f"-n={namespace}", "--for=delete", "pods", "--all", "--timeout=120s")


def attempts(job: objects.Object) -> list[dict[str, Any]]:
    return sorted(job.get("status", {}).get("attempts", ()), key=lambda attempt: attempt["number"])


def trains_in(*sizes: tuple[Any, ...]) -> Callable[[objects.Object], bool]:
    """`sizes`: the workers, the outcome and the reason of each attempt."""

    def holds(job: objects.Object) -> bool:
        found = attempts(job)
        ends = [(one.get("workers"), one.get("outcome"), one.get("reason")) for one in found]
        return ends == list(sizes) and "position" in found[-1]

    return holds
