"""A release with `trainer.cpuImage`: pods with a GPU have `trainer.image`, all others the image for CPUs.

The image for CPUs is the same one by another name here, so that the test needs no second build of the libraries.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pytest
from testkit.cluster.images.command import run
from testkit.cluster.images.ours import TRAINER
from testkit.cluster.node.cluster_folder import FIRST, ClusterFolder
from testkit.cluster.node.store import ctr
from testkit.full_cluster import jobs, objects, release
from testkit.full_cluster.bucket import Bucket
from testkit.full_cluster.full_cluster import FullCluster
from testkit.full_cluster.objects import several, until

GPU = "nvidia.com/gpu"
CPU_IMAGE = replace(TRAINER, repository="trainwright-cpu")


@pytest.fixture
def with_cpu_image(released: FullCluster, inside: ClusterFolder) -> Iterator[FullCluster]:
    """The cluster with a release that has an image for CPUs."""
    containerd = ctr(inside.socket(FIRST))
    run([*containerd, "images", "tag", "--force", TRAINER.name, CPU_IMAGE.name])
    release.install(released, release.KEYS_ALLOWED, f"--set=trainer.cpuImage.repository={CPU_IMAGE.repository}")
    yield released
    run([*containerd, "images", "remove", CPU_IMAGE.name])


def test_a_job_without_gpus_trains_in_it(with_cpu_image: FullCluster, namespace: str, bucket: Bucket) -> None:
    kubectl, cpu_image = with_cpu_image.kubectl, with_cpu_image.image(CPU_IMAGE.repository)
    jobs.apply(kubectl, namespace, jobs.keys(with_cpu_image), jobs.on_ray("on-cpus", bucket))
    until(
        lambda: _images(with_cpu_image, namespace),
        lambda pods: pods == dict.fromkeys(("head", "worker", "submitter"), cpu_image),
        seconds=180,
        what=f"a head, workers and a submitter of {cpu_image}",
    )
    assert jobs.ended(kubectl, namespace, "on-cpus")["phase"] == "Complete"


def test_only_the_workers_with_gpus_have_the_other(with_cpu_image: FullCluster, namespace: str, bucket: Bucket) -> None:
    kubectl = with_cpu_image.kubectl
    images = {role: with_cpu_image.image(one.repository) for role, one in (("head", CPU_IMAGE), ("worker", TRAINER))}
    job = jobs.on_ray("on-gpus", bucket)
    job["spec"]["backend"]["trainer"] = {"num_workers": 2, "resources_per_worker": {"CPU": 1, "GPU": 1}}
    with objects.given(with_cpu_image, {GPU: "2"}):
        jobs.apply(kubectl, namespace, jobs.keys(with_cpu_image), job)
        until(
            lambda: _images(with_cpu_image, namespace, "ray.io/is-ray-node=yes"),
            lambda pods: pods == images,
            seconds=180,
            what="a head without CUDA and a worker with it",
        )
        kubectl("delete", f"-n={namespace}", "tj", "on-gpus")


def _images(full_cluster: FullCluster, namespace: str, labels: str = "") -> dict[str, str]:
    """The image of the pods of each role: those of Ray, and the submitter's."""
    return {
        pod["metadata"]["labels"].get("ray.io/node-type", "submitter"): pod["spec"]["containers"][0]["image"]
        for pod in several(full_cluster.kubectl, namespace, "pods", labels)
    }
