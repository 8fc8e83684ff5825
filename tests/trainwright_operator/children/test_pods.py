"""Checks every pod of every child against the Pod Security Standard *restricted*."""

from __future__ import annotations

from typing import Any

import pytest

from .child_specs import BACKENDS, child_spec, container, sized, templates

ALLOWED_VOLUMES = {"configMap", "projected", "secret", "emptyDir"}


@pytest.mark.parametrize("backend", BACKENDS)
def test_it_is_restricted(backend: str) -> None:
    made = child_spec(backend, backend_keys={"cache_credentials": {"key": "x"}}, credentials={"secretName": "keys"})
    for template in templates(made).values():
        spec, own = template["spec"], container(template)["securityContext"]
        assert spec["securityContext"]["runAsNonRoot"] is True
        assert spec["securityContext"]["runAsUser"] == spec["securityContext"]["fsGroup"] == 1000
        assert spec["securityContext"]["seccompProfile"] == {"type": "RuntimeDefault"}
        assert own == {
            "allowPrivilegeEscalation": False,
            "capabilities": {"drop": ["ALL"]},
            "readOnlyRootFilesystem": True,
        }
        assert {key for volume in spec["volumes"] for key in volume} - {"name"} <= ALLOWED_VOLUMES
        assert not {"hostNetwork", "hostPID", "hostIPC"} & set(spec)


@pytest.mark.parametrize("backend", BACKENDS)
def test_it_has_no_token_for_the_api_and_no_second_life(backend: str) -> None:
    for template in templates(child_spec(backend)).values():
        spec = template["spec"]
        assert spec["automountServiceAccountToken"] is False
        assert spec["enableServiceLinks"] is False
        assert spec["restartPolicy"] == "Never"
        assert container(template)["terminationMessagePolicy"] == "FallbackToLogsOnError"


@pytest.mark.parametrize("backend", BACKENDS)
def test_it_leaves_a_lost_node_soon(backend: str) -> None:
    for template in templates(child_spec(backend)).values():
        lost = {item["key"]: item["tolerationSeconds"] for item in template["spec"]["tolerations"]}
        assert lost == {"node.kubernetes.io/not-ready": 20, "node.kubernetes.io/unreachable": 20}


def tolerated(template: dict[str, Any]) -> set[str]:
    """Return the taints that a pod tolerates besides those of lost nodes."""
    found = template["spec"]["tolerations"]
    assert all(item == {"key": item["key"], "operator": "Exists", "effect": "NoSchedule"} for item in found[2:])
    return {item["key"] for item in found[2:]}


def test_only_pods_with_devices_tolerate_the_taint_of_their_name() -> None:
    slices = child_spec("ray", resolved=sized(2, gpus=2), gpuResourceName="nvidia.com/mig-1g.5gb")
    assert {role: tolerated(made) for role, made in templates(slices).items()} == {
        "submitter": set(),
        "head": set(),
        "worker": {"nvidia.com/mig-1g.5gb"},
    }
    given = {"resources": {"limits": {"nvidia.com/gpu": 1, "rdma/ib": 1, "amd.com/gpu": 0, "memory": "1Gi"}}}
    for backend, gpus in (("local", 0), ("horovod", 2)):
        made = child_spec(backend, resolved=sized(2, gpus=gpus), podTemplate=given)
        assert tolerated(templates(made)["trainer"]) == {"nvidia.com/gpu", "rdma/ib"}
    assert tolerated(templates(child_spec("horovod", podTemplate=given))["trainer"]) == {"rdma/ib"}
    assert tolerated(templates(child_spec("local", stage="preprocess", podTemplate=given))["trainer"]) == set()


def test_a_device_of_a_container_that_runs_first_is_tolerated_once() -> None:
    first = [
        {"name": "check", "resources": {"limits": {"nvidia.com/gpu": 1}}},
        {"name": "warm", "resources": {"requests": {"nvidia.com/gpu": 1, "cpu": 1}}},
        {"name": "fetch"},
        {"name": "wrong", "resources": {"limits": "1"}},
    ]
    tolerations = templates(child_spec("local", podTemplate={"initContainers": first}))["trainer"]["spec"][
        "tolerations"
    ]
    assert [item["key"] for item in tolerations[2:]] == ["nvidia.com/gpu"]


@pytest.mark.parametrize("backend", BACKENDS)
def test_it_runs_the_image_that_was_resolved(backend: str) -> None:
    made = child_spec(backend, image="changed:2")
    assert {container(template)["image"] for template in templates(made).values()} == {"trainwright:1"}
