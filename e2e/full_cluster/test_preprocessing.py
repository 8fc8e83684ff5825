"""Dask prepares the data of a job on a Ray cluster of CPUs, before the job asks for GPUs.

The node reports GPUs that it does not have, so the job is deleted when its second stage begins.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from testkit.full_cluster import jobs, objects
from testkit.full_cluster.bucket import Bucket
from testkit.full_cluster.full_cluster import FullCluster
from testkit.full_cluster.laptop import Laptop
from testkit.full_cluster.objects import condition, one, several, until

GPUS = {"nvidia.com/gpu": "2"}


def test_dask_fills_the_cache_in_pods_as_one_process_does(
    operator: FullCluster, namespace: str, bucket: Bucket, laptop: Laptop
) -> None:
    kubectl = operator.kubectl
    job = jobs.on_ray("prepared", bucket)
    job["spec"]["backend"]["trainer"]["resources_per_worker"] = {"CPU": 1, "GPU": 1}
    jobs.apply(kubectl, namespace, jobs.keys(operator))
    with objects.given(operator, GPUS):
        jobs.apply(kubectl, namespace, job)
        first = until(
            lambda: one(kubectl, namespace, "tj", "prepared"),
            lambda seen: condition(seen, "Running").get("reason") == "Preprocessing",
            seconds=300,
            what="the first stage",
        )
        attempt = first["status"]["attempts"][0]
        assert (attempt["number"], attempt["stage"]) == (1, "preprocess")
        [ray_job] = several(kubectl, namespace, "rayjobs")
        assert ray_job["metadata"]["name"] == attempt["child"]
        pods = several(kubectl, namespace, "pods", "ray.io/is-ray-node=yes")
        assert sorted(pod["metadata"]["labels"]["ray.io/node-type"] for pod in pods) == ["head", "worker", "worker"]
        assert [devices(pod["spec"]) for pod in pods] == [{}, {}, {}]
        second = until(
            lambda: one(kubectl, namespace, "tj", "prepared"),
            lambda seen: seen["status"]["attempts"][0]["stage"] == "train",
            seconds=300,
            what="the second stage",
        )
        assert second["status"]["preprocessed"]["child"] == attempt["child"]
        kubectl("delete", f"-n={namespace}", "tj", "prepared")

    laptop.preprocess(job, bucket.uri("of-the-laptop"))
    assert bucket.encoded("cache") == bucket.encoded("of-the-laptop") != {}


def devices(spec: Mapping[str, Any]) -> Mapping[str, str]:
    """Return the limits of devices of a pod."""
    limits = spec["containers"][0].get("resources", {}).get("limits", {})
    return {name: amount for name, amount in limits.items() if "/" in name}
