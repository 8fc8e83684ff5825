from __future__ import annotations

from typing import Any

import pytest

from trainwright_operator.children import child

from .child_specs import child_spec, container, sized, templates


def spec_of(**changes: Any) -> dict[str, Any]:
    found: dict[str, Any] = child(child_spec("ray", **changes))["spec"]
    return found


def test_one_submission_of_a_fixed_text() -> None:
    spec = spec_of(dataset="s3://data/$(rm -rf /)")
    assert spec["entrypoint"] == "trainwright run /etc/trainwright/job.yaml"
    assert spec["submissionMode"] == "K8sJobMode"
    assert spec["submitterConfig"] == {"backoffLimit": 0}
    assert spec["backoffLimit"] == 0
    assert not {"runtimeEnvYAML", "metadata", "jobId"} & set(spec)


def test_the_cluster_goes_with_the_job_and_nobody_but_the_operator_watches_the_clock() -> None:
    spec = spec_of(queueName="gpus", activeDeadlineSeconds=60, ttlSecondsAfterFinished=5)
    assert spec["shutdownAfterJobFinishes"] is True
    own = {"suspend", "ttlSecondsAfterFinished", "activeDeadlineSeconds", "preRunningDeadlineSeconds"}
    assert not own & set(spec)


def test_the_cluster_asks_for_a_token() -> None:
    cluster = spec_of()["rayClusterSpec"]
    assert cluster["authOptions"] == {"mode": "token"}
    assert cluster["rayVersion"] == "2.60.0"
    assert spec_of(rayVersion="2.56.1")["rayClusterSpec"]["rayVersion"] == "2.56.1"


@pytest.mark.parametrize(("workers", "per_pod", "pods"), [(1, 1, 1), (4, 1, 4), (4, 4, 1), (5, 2, 3)])
def test_one_group_of_a_fixed_size(workers: int, per_pod: int, pods: int) -> None:
    (group,) = spec_of(resolved=sized(workers, per_pod))["rayClusterSpec"]["workerGroupSpecs"]
    assert group["groupName"] == "workers"
    assert group["replicas"] == group["minReplicas"] == group["maxReplicas"] == pods


def test_slices_of_gpus_are_limits_that_ray_is_told_of() -> None:
    """KubeRay does not recognise the MIG profile as a GPU by its name."""
    trainer = {"resources_per_worker": {"CPU": 2, "GPU": 1}}
    spec = spec_of(trainer=trainer, resolved=sized(6, 3, 6), gpuResourceName="nvidia.com/mig-1g.5gb.me")
    (group,) = spec["rayClusterSpec"]["workerGroupSpecs"]
    resources = container(group["template"])["resources"]
    assert (group["replicas"], group["rayStartParams"]) == (2, {"num-cpus": "6", "num-gpus": "3"})
    assert resources == {"requests": {"cpu": "6"}, "limits": {"nvidia.com/mig-1g.5gb.me": "3"}}
    assert "nvidia.com" not in str(spec["rayClusterSpec"]["headGroupSpec"])
    assert "nvidia.com" not in str(spec["submitterPodTemplate"])


def test_each_pod_has_one_container_and_kuberay_gives_it_its_command() -> None:
    for template in templates(child_spec("ray")).values():
        assert len(template["spec"]["containers"]) == 1
        assert "command" not in container(template)
        assert "args" not in container(template)


def test_the_head_names_the_ports_that_kuberay_looks_for() -> None:
    ports = container(templates(child_spec("ray"))["head"])["ports"]
    assert {port["name"]: port["containerPort"] for port in ports} == {"gcs-server": 6379, "dashboard": 8265}
