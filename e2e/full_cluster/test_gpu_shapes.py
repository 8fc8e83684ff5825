"""The pods of a job that requests GPUs, up to their scheduling on a node that reports GPUs.

It has none, so nothing could train there: the jobs are deleted once all pods have their place.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pyarrow.csv
import pyarrow.parquet
import pytest
from testkit.full_cluster import examples, jobs, objects
from testkit.full_cluster.bucket import Bucket
from testkit.full_cluster.full_cluster import FullCluster
from testkit.full_cluster.objects import Object, condition, one, several, until

GPU, SLICE = "nvidia.com/gpu", "nvidia.com/mig-1g.10gb"
HELD = {GPU: "4", SLICE: "7"}


@pytest.fixture
def gpus(operator: FullCluster) -> Iterator[FullCluster]:
    """The cluster with a node that reports GPUs until the test ends."""
    with objects.given(operator, HELD):
        yield operator


def test_the_example_prepares_its_data_on_cpus_before_it_asks_for_gpus(
    gpus: FullCluster, namespace: str, bucket_of_the_files: Bucket, tmp_path: Path
) -> None:
    file = tmp_path / "flights.parquet"
    pyarrow.parquet.write_table(pyarrow.csv.read_csv(examples.FLIGHTS), file)
    bucket_of_the_files.upload(file, file.name)
    example, name = examples.of_kubernetes("ray-gpu")
    jobs.apply(gpus.kubectl, namespace, jobs.keys(gpus))
    gpus.kubectl("apply", f"-n={namespace}", "-f", str(example))

    first = until(
        lambda: one(gpus.kubectl, namespace, "tj", name),
        lambda job: condition(job, "Running").get("reason") == "Preprocessing",
        seconds=180,
        what="the first stage",
    )
    assert first["status"]["attempts"][0]["stage"] == "preprocess"
    assert "preprocessing on CPUs" in first["status"]["message"]
    assert several(gpus.kubectl, namespace, "rayjobs") == []
    assert [_devices(pod["spec"]) for pod in several(gpus.kubectl, namespace, "pods")] == [{}]

    pods = _pods_with_places(gpus, namespace)
    status = one(gpus.kubectl, namespace, "tj", name)["status"]
    [ray_job] = several(gpus.kubectl, namespace, "rayjobs")
    assert bucket_of_the_files.keys("cache")
    assert status["preprocessed"]["completionTime"] <= ray_job["metadata"]["creationTimestamp"]
    assert (status["attempt"], status["attempts"][0]["stage"]) == (1, "train")
    assert _resolved(status) == (4, 4, 4)
    assert _groups(ray_job) == [(1, {GPU: "4"})]
    assert _trainer_section(gpus, namespace)["num_workers"] == 4
    assert {role: _devices(pod["spec"]) for role, pod in pods.items()} == {"head": {}, "worker": {GPU: "4"}}
    assert "--num-gpus=4" in _command(pods["worker"])
    assert "--num-gpus=0" in _command(pods["head"])
    gpus.kubectl("delete", f"-n={namespace}", "tj", name)


def test_slices_are_given_as_gpus_are(gpus: FullCluster, namespace: str, bucket: Bucket) -> None:
    """A cache beside its data in S3 is filled before the GPU pods are created."""
    trainer = {"num_workers": 6, "resources_per_worker": {"CPU": 1, "GPU": 1}}
    job = jobs.weather("sliced", bucket, type="ray", processor={"type": "pandas"}, trainer=trainer)
    del job["spec"]["backend"]["cache_dir"]
    job["spec"] |= {"gpuResourceName": SLICE, "workersPerPod": "auto"}
    jobs.apply(gpus.kubectl, namespace, jobs.keys(gpus), job)

    pods = _pods_with_places(gpus, namespace)
    status = one(gpus.kubectl, namespace, "tj", "sliced")["status"]
    [ray_job] = several(gpus.kubectl, namespace, "rayjobs")
    assert status["preprocessed"]["completionTime"] <= ray_job["metadata"]["creationTimestamp"]
    assert _resolved(status) == (6, 6, 6)
    assert _groups(ray_job) == [(1, {SLICE: "6"})]
    assert _trainer_section(gpus, namespace)["num_workers"] == 6
    assert {role: _devices(pod["spec"]) for role, pod in pods.items()} == {"head": {}, "worker": {SLICE: "6"}}
    assert "--num-gpus=6" in _command(pods["worker"])
    gpus.kubectl("delete", f"-n={namespace}", "tj", "sliced")


def _pods_with_places(full_cluster: FullCluster, namespace: str) -> Mapping[str, Object]:
    """Return the pods of the Ray cluster by role, once each is scheduled."""
    found = until(
        lambda: several(full_cluster.kubectl, namespace, "pods", "ray.io/is-ray-node=yes"),
        lambda pods: len(pods) == 2 and all(pod["spec"].get("nodeName") for pod in pods),
        seconds=180,
        what="head and workers on a node",
    )
    return {pod["metadata"]["labels"]["ray.io/node-type"]: pod for pod in found}


def _devices(spec: Mapping[str, Any]) -> Mapping[str, str]:
    """Return the pod's limits of exclusive devices."""
    limits = [container.get("resources", {}).get("limits", {}) for container in spec["containers"]]
    return {name: amount for limit in limits for name, amount in limit.items() if "/" in name}


def _groups(ray_job: Object) -> Sequence[tuple[int, Mapping[str, str]]]:
    groups = ray_job["spec"]["rayClusterSpec"]["workerGroupSpecs"]
    return [(group["replicas"], _devices(group["template"]["spec"])) for group in groups]


def _resolved(status: Mapping[str, Any]) -> tuple[int, int, int]:
    resolved = status["resolved"]
    return resolved["workers"], resolved["gpus"], resolved["workersPerPod"]


def _trainer_section(full_cluster: FullCluster, namespace: str) -> Mapping[str, Any]:
    """The `backend.trainer` section that the training program reads."""
    [config] = several(full_cluster.kubectl, namespace, "configmaps", "trainwright.dev/job-uid")
    trainer: Mapping[str, Any] = json.loads(config["data"]["job.yaml"])["spec"]["backend"]["trainer"]
    return trainer


def _command(pod: Object) -> str:
    container = pod["spec"]["containers"][0]
    return " ".join([*container.get("command", ()), *container.get("args", ())])
