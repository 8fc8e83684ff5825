from __future__ import annotations

import json
import re
import shlex
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from trainwright_operator.children import child
from trainwright_operator.children.rayjob import head_params, quoted, worker_params

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


def test_slices_of_gpus_are_limits_that_ray_is_reported_of() -> None:
    """KubeRay does not recognise the MIG profile as a GPU by its name."""
    trainer = {"resources_per_worker": {"CPU": 2, "GPU": 1}}
    spec = spec_of(
        backend_keys={"trainer": trainer or {}}, resolved=sized(6, 3, 6), gpuResourceName="nvidia.com/mig-1g.5gb.me"
    )
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


@pytest.mark.parametrize(
    ("shares", "per_pod", "gpus", "params"),
    [
        (None, 1, 0, {"num-cpus": "1", "num-gpus": "0"}),
        (None, 4, 8, {"num-cpus": "4", "num-gpus": "4"}),
        ({"CPU": 0.5, "GPU": 0.5}, 1, 8, {"num-cpus": "1", "num-gpus": "1"}),
        ({"CPU": 1.5}, 3, 0, {"num-cpus": "5", "num-gpus": "0"}),
        ({"CPU": 0}, 1, 0, {"num-cpus": "1", "num-gpus": "0"}),
        ({"memory": 1000}, 2, 0, {"num-cpus": "2", "num-gpus": "0"}),
        ({"ssd": 0.5}, 2, 0, {"num-cpus": "2", "num-gpus": "0", "resources": "'{\"ssd\": 1.0}'"}),
    ],
)
def test_a_node_offers_what_its_workers_need(
    shares: dict[str, float] | None, per_pod: int, gpus: int, params: dict[str, str]
) -> None:
    trainer = {"resources_per_worker": shares} if shares else None
    resolved = sized(8, per_pod, gpus)
    # The profile mig-1g.5gb.me is one of those that KubeRay does not recognise as a GPU.
    made = child_spec(
        "ray", backend_keys={"trainer": trainer or {}}, resolved=resolved, gpuResourceName="nvidia.com/mig-1g.5gb.me"
    )
    assert worker_params(made) == params


def test_the_head_offers_nothing() -> None:
    assert (head_params()["num-cpus"], head_params()["num-gpus"]) == ("0", "0")


@settings(deadline=None)
@given(st.dictionaries(st.text(st.characters(codec="utf-8"), min_size=1), st.integers(1, 9), max_size=3))
def test_no_name_gets_out_of_its_quotes(resources: dict[str, Any]) -> None:
    text = quoted(resources)
    (word,) = shlex.split(text)
    assert json.loads(word) == resources
    inside = text[1:-1]
    assert not re.search(r"[^A-Za-z0-9_.:/{}\", \\-]", inside)
