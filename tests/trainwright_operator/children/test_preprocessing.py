"""The child of the preprocess stage, before GPUs are reserved: a Job of one pod, or a RayJob for a processor that is
distributed."""

from __future__ import annotations

from typing import Any

import pytest

from trainwright_operator.children import ChildSpec, child, shared_objects

from .child_specs import child_spec, container, env, sized

TRAINER = {"num_workers": 4, "resources_per_worker": {"CPU": 2, "GPU": 1, "ssd": 1}}
WITH_GPUS = ("ray", "deepspeed", "horovod")


def before(backend: str = "ray", stage: str = "preprocess", processor: str = "pandas", **spec: Any) -> ChildSpec:
    keys = {"trainer": TRAINER, **({"processor": {"type": processor}} if backend == "ray" else {})}
    return child_spec(backend, stage=stage, backend_keys=keys, resolved=sized(4, per_pod=2, gpus=4), **spec)


def cluster(processor: str = "dask", **spec: Any) -> dict[str, Any]:
    made = child(before(processor=processor, **spec))
    assert (made["kind"], made["metadata"]["name"]) == ("RayJob", "flights-1c9e2f7a-1-preprocess")
    found: dict[str, Any] = made["spec"]["rayClusterSpec"]
    return found


@pytest.mark.parametrize("backend", WITH_GPUS)
def test_it_is_a_job_of_one_pod(backend: str) -> None:
    made = child(before(backend))
    assert (made["kind"], made["metadata"]["name"]) == ("Job", "flights-1c9e2f7a-1-preprocess")
    assert not {"completions", "parallelism", "completionMode"} & set(made["spec"])
    assert made["spec"]["backoffLimit"] == 0
    assert container(made["spec"]["template"])["command"] == ["trainwright", "run", "/etc/trainwright/job.yaml"]


@pytest.mark.parametrize("backend", WITH_GPUS)
def test_it_has_the_cpus_of_a_pod_of_workers_and_no_device(backend: str) -> None:
    asked = {"limits": {"nvidia.com/gpu": 8, "rdma/ib": 1, "memory": "64Gi"}, "requests": {"rdma/ib": 1}}
    template = child(before(backend, podTemplate={"resources": asked}))["spec"]["template"]
    assert container(template)["resources"] == {"requests": {"cpu": "4"}, "limits": {"memory": "64Gi"}}
    assert env(template)["TRAINWRIGHT_CPUS"] == "4"
    assert (env(template)["NVIDIA_VISIBLE_DEVICES"], env(template)["CUDA_VISIBLE_DEVICES"]) == ("void", "")


def test_a_local_job_loses_the_gpu_of_its_pod_template() -> None:
    asked = {"resources": {"limits": {"nvidia.com/gpu": "1", "cpu": "8"}}}
    template = child(child_spec("local", stage="preprocess", podTemplate=asked))["spec"]["template"]
    assert container(template)["resources"] == {"limits": {"cpu": "8"}}


def test_it_gets_its_environment() -> None:
    variables = env(child(before())["spec"]["template"])
    assert variables["TRAINWRIGHT_STAGE"] == "preprocess"
    assert (variables["TRAINWRIGHT_WORKERS"], variables["TRAINWRIGHT_WORKERS_PER_POD"]) == ("1", "1")
    assert "TRAINWRIGHT_MASTER_ADDRESS" not in variables


def test_it_goes_where_the_users_overlay_sends_every_pod() -> None:
    overlay = {
        "nodeSelector": {"gpu": "h200"},
        "tolerations": [{"key": "nvidia.com/gpu", "operator": "Exists"}],
        "volumes": [{"name": "cache", "persistentVolumeClaim": {"claimName": "cache"}}],
        "volumeMounts": [{"name": "cache", "mountPath": "/cache"}],
    }
    spec = child(before(podTemplate=overlay))["spec"]["template"]["spec"]
    assert spec["nodeSelector"] == {"gpu": "h200"}
    assert {"key": "nvidia.com/gpu", "operator": "Exists"} in spec["tolerations"]
    assert "/cache" in {mount["mountPath"] for mount in spec["containers"][0]["volumeMounts"]}


@pytest.mark.parametrize("processor", ["dask", "modin"])
def test_a_distributed_processor_has_a_ray_cluster_of_cpus(processor: str) -> None:
    """As many pods as training, with their CPUs and no device, also of the job's template."""
    asked = {"limits": {"nvidia.com/gpu": 8, "rdma/ib": 1, "memory": "64Gi"}, "requests": {"rdma/ib": 1}}
    found = cluster(processor, podTemplate={"resources": asked})
    (group,) = found["workerGroupSpecs"]
    assert (group["replicas"], group["minReplicas"], group["maxReplicas"]) == (2, 2, 2)
    assert group["rayStartParams"] == {"num-cpus": "4", "num-gpus": "0"}
    assert container(group["template"])["resources"] == {"requests": {"cpu": "4"}, "limits": {"memory": "64Gi"}}
    variables = env(group["template"])
    assert (variables["NVIDIA_VISIBLE_DEVICES"], variables["CUDA_VISIBLE_DEVICES"]) == ("void", "")
    assert "nvidia.com" not in str(found)
    head = found["headGroupSpec"]
    assert env(head["template"])["TRAINWRIGHT_STAGE"] == "preprocess"
    # Tasks that take a CPU, as those of Modin do, never run on the head.
    assert head["rayStartParams"]["num-cpus"] == "0"


def test_the_part_preprocess_of_the_template_sizes_the_pods_of_that_cluster() -> None:
    own = {"resources": {"limits": {"cpu": "7", "memory": "9Gi"}}, "nodeSelector": {"pool": "cpu"}}
    found = cluster(podTemplate={"preprocess": own, "worker": {"nodeSelector": {"pool": "gpu"}}})
    (group,) = found["workerGroupSpecs"]
    assert group["rayStartParams"]["num-cpus"] == "7"
    assert container(group["template"])["resources"] == {"limits": {"cpu": "7", "memory": "9Gi"}}
    assert group["template"]["spec"]["nodeSelector"] == {"pool": "cpu"}


@pytest.mark.parametrize("processor", ["pandas", "dask", "modin"])
def test_kueue_queues_it_too(processor: str) -> None:
    labels = child(before(processor=processor, queueName="gpus"))["metadata"]["labels"]
    assert labels["kueue.x-k8s.io/queue-name"] == "gpus"
    assert labels["trainwright.dev/stage"] == "preprocess"


@pytest.mark.parametrize("backend", WITH_GPUS)
def test_what_all_children_share_is_the_same_for_both_stages(backend: str) -> None:
    assert shared_objects(before(backend)) == shared_objects(before(backend, stage="train"))
    assert shared_objects(before(processor="dask")) == shared_objects(before(processor="dask", stage="train"))
