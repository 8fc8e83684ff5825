"""Jobs compete for one node with two cores. No job waits forever for resources that another job holds in part."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from testkit.full_cluster import jobs, objects
from testkit.full_cluster.bucket import Bucket
from testkit.full_cluster.full_cluster import FullCluster
from testkit.full_cluster.objects import Object, condition, one, until

GPU = "nvidia.com/gpu"
SECONDS = 1500
"""The time limit of jobs that run one after the other: some minutes on a free machine."""


def by_ray(name: str, bucket: Bucket, **shares: int) -> dict[str, Any]:
    """A head, one worker with these resources, and a submitter. One such job fits on two cores."""
    trainer = {"strategy": "ddp", "num_workers": 1, "use_gpu": "GPU" in shares, "resources_per_worker": shares}
    job = jobs.weather(name, bucket, type="ray", trainer=trainer)
    job["spec"]["podTemplate"] = {"env": [jobs.RAYLET_START_WAIT]}
    return job


def completes(full_cluster: FullCluster, namespace: str, name: str) -> None:
    """Attempts that released their resources before do not count."""
    status = jobs.ended(full_cluster.kubectl, namespace, name, seconds=SECONDS)
    assert status["phase"] == "Complete", status
    counted = [one for one in status["attempts"] if one["outcome"] not in ("done", "stopped")]
    assert status.get("retries", 0) + status.get("preemptions", 0) == len(counted)


def test_five_jobs_that_each_fit_alone_all_finish(operator: FullCluster, namespace: str, bucket: Bucket) -> None:
    names = [f"job-{number}" for number in range(5)]
    jobs.apply(operator.kubectl, namespace, jobs.keys(operator), *(by_ray(name, bucket, CPU=1) for name in names))
    for name in names:
        completes(operator, namespace, name)


def is_queued(job: Object) -> bool:
    return bool(condition(job, "Running").get("reason") == "Queued")


@pytest.fixture
def one_gpu(operator: FullCluster) -> Iterator[FullCluster]:
    """The cluster with a node that reports a GPU."""
    with objects.given(operator, {GPU: "1"}):
        yield operator


def test_a_gang_that_never_fits_lets_one_pass_that_does(one_gpu: FullCluster, namespace: str, bucket: Bucket) -> None:
    """A job that was created first: its head runs, and its worker waits for eight GPUs of one."""
    kubectl = one_gpu.kubectl
    never = by_ray("never", bucket, GPU=8)
    jobs.apply(kubectl, namespace, jobs.keys(one_gpu), never)
    until(
        lambda: one(kubectl, namespace, "tj", "never"),
        lambda job: is_queued(job) and job["status"]["attempts"][0]["stage"] == "train",
        seconds=300,
        what="a gang that waits for GPUs",
    )
    jobs.apply(kubectl, namespace, *(by_ray(f"fits-{number}", bucket, CPU=1) for number in range(2)))
    for number in range(2):
        completes(one_gpu, namespace, f"fits-{number}")
    status = one(kubectl, namespace, "tj", "never")["status"]
    assert status["phase"] in ("Queued", "Starting")
    assert not {"retries", "preemptions", "completionTime"} & set(status)
    kubectl("delete", f"-n={namespace}", "tj", "never")


def test_an_image_that_cannot_be_pulled_ends_the_job(operator: FullCluster, namespace: str, bucket: Bucket) -> None:
    job = jobs.weather("nowhere", bucket)
    job["spec"] |= {"image": "localhost/nowhere:1", "startDeadlineSeconds": 20}
    jobs.apply(operator.kubectl, namespace, jobs.keys(operator), job)
    status = jobs.ended(operator.kubectl, namespace, "nowhere")
    assert (status["phase"], status["attempt"]) == ("Failed", 1), status
    assert "image localhost/nowhere:1 could not be pulled within startDeadlineSeconds (20 s)" in status["message"]
