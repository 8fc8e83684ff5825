"""The rules of the administrator's policy: each with its line, and a job that it allows."""

from __future__ import annotations

from typing import Any

import pytest

from trainwright_api.resource.job import TrainingJobSpec
from trainwright_api.resource.status import Resolved
from trainwright_operator.policies.forbidden import refusal
from trainwright_operator.policy import HOST_SETTINGS, Policy

SPEC: dict[str, Any] = {
    "dataset": "s3://bucket/flights.parquet",
    "output": "s3://bucket/runs",
    "config": {
        "input_features": [{"name": "size", "type": "number"}],
        "output_features": [{"name": "late", "type": "binary"}],
    },
}
IMAGES = tuple(f"registry.example.com/ml/{name}:0.1.0" for name in ("trainwright", "trainwright-cpu"))


def refused(policy: Policy | None = None, resolved: Resolved | None = None, **spec: Any) -> str:
    parsed = TrainingJobSpec.model_validate({**SPEC, **spec})
    return refusal(parsed, policy or Policy(), IMAGES, "late", resolved)


def ray(**trainer: Any) -> dict[str, Any]:
    return {"type": "ray", "trainer": trainer}


def test_a_job_that_asks_for_nothing_special_is_allowed() -> None:
    volumes = [{"name": "data", "persistentVolumeClaim": {"claimName": "data"}}, {"name": "keys", "secret": {}}]
    template = {"volumes": volumes, "serviceAccountName": "default", "securityContext": {"runAsUser": 2000}}
    assert refused(podTemplate=template, image="python:3", backend=ray(num_workers=1024, use_gpu=True)) == ""


@pytest.mark.parametrize(
    ("template", "line"),
    [
        (
            {"volumes": [{"name": "a", "emptyDir": {}}, {"name": "b", "hostPath": {"path": "/"}}]},
            "podTemplate.volumes[1].hostPath: a volume of the kind hostPath: not allowed in this cluster "
            "(policy.volumes); allowed: configMap, csi, downwardAPI, emptyDir, ephemeral, persistentVolumeClaim, "
            "projected, secret",
        ),
        (
            {"serviceAccountName": "admin"},
            "podTemplate.serviceAccountName: the service account admin: not allowed in this cluster "
            "(policy.serviceAccounts); allowed: default",
        ),
        ({"securityContext": {"runAsUser": 0}}, "podTemplate.securityContext.runAsUser: root: not allowed"),
        ({"securityContext": {"runAsNonRoot": False}}, "podTemplate.securityContext.runAsNonRoot: root"),
        ({"securityContext": {"supplementalGroups": [7, 0]}}, "podTemplate.securityContext.supplementalGroups: root"),
        ({"securityContext": {"sysctls": []}}, "podTemplate.securityContext.sysctls: privileged"),
        (
            {"worker": {"volumes": [{"name": "b", "nfs": {"server": "s", "path": "/"}}]}},
            "podTemplate.worker.volumes[0].nfs: a volume of the kind nfs: not allowed",
        ),
        ({"head": {"serviceAccountName": "admin"}}, "podTemplate.head.serviceAccountName: the service account admin"),
        ({"hostNetwork": True}, "podTemplate.hostNetwork: hostNetwork: not allowed"),
        ({"worker": {"hostIPC": True}}, "podTemplate.worker.hostIPC: hostIPC: not allowed"),
        (
            {"containerSecurityContext": {"capabilities": {"add": ["IPC_LOCK"]}}},
            "podTemplate.containerSecurityContext.capabilities.add: capabilities: not allowed",
        ),
        (
            {"containerSecurityContext": {"capabilities": {"drop": []}}},
            "podTemplate.containerSecurityContext.capabilities.drop: capabilities: not allowed",
        ),
        (
            {"containerSecurityContext": {"seLinuxOptions": {"type": "spc_t"}}},
            "podTemplate.containerSecurityContext.seLinuxOptions: privileged: not allowed",
        ),
        (
            {"securityContext": {"seLinuxOptions": {"level": "s0", "user": "system_u"}}},
            "podTemplate.securityContext.seLinuxOptions: privileged: not allowed",
        ),
        (
            {"annotations": {"container.apparmor.security.beta.kubernetes.io/trainer": "unconfined"}},
            "podTemplate.annotations.container.apparmor.security.beta.kubernetes.io/trainer: privileged: not allowed",
        ),
        (
            {"initContainers": [{"name": "a", "securityContext": {"privileged": True}}]},
            "podTemplate.initContainers[0].securityContext.privileged: privileged: not allowed",
        ),
        (
            {"initContainers": [{"name": "a", "ports": [{"containerPort": 1, "hostPort": 1}]}]},
            "podTemplate.initContainers[0].ports: hostNetwork: not allowed",
        ),
        (
            {"securityContext": {"seccompProfile": {"type": "Unconfined"}}},
            "podTemplate.securityContext.seccompProfile: privileged: not allowed in this cluster "
            "(policy.hostSettings); none is allowed",
        ),
    ],
)
def test_of_the_pod_template(template: dict[str, Any], line: str) -> None:
    assert refused(podTemplate=template).startswith(f"late: {line}")
    everything = Policy(volumes=("*",), service_accounts=("*",), host_settings=HOST_SETTINGS)
    assert refused(everything, podTemplate=template) == ""


@pytest.mark.parametrize(
    ("keys", "path"),
    [
        ({"cache_credentials": {"key": "x"}}, "backend.cache_credentials"),
        ({"credentials": {"datasets": {"key": "x"}}}, "backend.credentials.datasets"),
    ],
)
def test_keys_in_plain_text(keys: dict[str, Any], path: str) -> None:
    assert refused(backend=keys) == (
        f"late: {path}: keys in plain text, which everybody who may view the job can read: not allowed in this cluster "
        "(policy.inlineKeys); put them into a Secret and name it in spec.credentials"
    )
    assert refused(Policy(inline_keys=True), backend=keys) == ""
    assert refused(backend={"cache_credentials": "/etc/trainwright/credentials/cache.json"}) == ""


@pytest.mark.parametrize(
    ("image", "allowed"),
    [
        *((image, True) for image in IMAGES),
        ("registry.example.com/team/mine:1", True),
        ("registry.example.com/team@sha256:00", True),
        ("registry.example.com/teammate/mine:1", False),
        ("registry.example.com.evil.org/team/mine:1", False),
        ("python:3", True),
        ("library/python:3", True),
        ("other/python:3", False),
        ("localhost/library/python", False),
    ],
)
def test_images_come_from_the_registries_that_are_listed(image: str, allowed: bool) -> None:
    found = refused(Policy(registries=("registry.example.com/team/", "docker.io/library")), image=image)
    words = f"late: image: the image {image}: not allowed in this cluster (policy.registries)"
    assert found == "" if allowed else found.startswith(words)


def test_a_registry_is_that_of_one_port() -> None:
    for image, is_refused in (("registry.example.com:5000/a/b", True), ("registry.example.com/a/b:1", False)):
        assert bool(refused(Policy(registries=("registry.example.com",)), image=image)) is is_refused


def test_so_do_the_images_that_run_first() -> None:
    given = {
        "worker": {"initContainers": [{"name": "a"}, {"name": "b", "image": IMAGES[0]}, {"name": "c", "image": "x/y"}]}
    }
    words = "late: podTemplate.worker.initContainers[2].image: the image x/y: not allowed in this cluster"
    assert refused(Policy(registries=()), podTemplate=given).startswith(words)


def test_claims_of_devices_cannot_be_counted() -> None:
    given = {"resourceClaims": [{"name": "gpus", "resourceClaimName": "all"}]}
    words = "late: podTemplate.resourceClaims: devices that are not counted, beside a maximum of GPUs"
    assert refused(Policy(max_gpus_per_job=1), podTemplate=given).startswith(words)
    assert refused(podTemplate=given) == ""


@pytest.mark.parametrize(
    ("limits", "backend", "template", "line"),
    [
        (
            {"max_workers_per_job": 4},
            ray(num_workers=5),
            {},
            "backend.trainer.num_workers: 5 workers are more than 4, the maximum of this cluster "
            "(policy.maxWorkersPerJob)",
        ),
        (
            {"max_workers_per_job": 4, "max_workers_per_namespace": 2},
            ray(num_workers={"min": 3, "max": 9}),
            {},
            "backend.trainer.num_workers: 3 workers are more than 2, the maximum of this cluster "
            "(policy.maxWorkersPerNamespace)",
        ),
        (
            {"max_gpus_per_job": 3},
            ray(num_workers=2, resources_per_worker={"GPU": 2}),
            {},
            "backend.trainer.resources_per_worker.GPU: 4 GPUs are more than 3, the maximum of this cluster "
            "(policy.maxGpusPerJob)",
        ),
        (
            {"max_gpus_per_job": 3},
            ray(num_workers=64, resources_per_worker={"GPU": 0.01}),
            {},
            "backend.trainer.resources_per_worker.GPU: 64 GPUs are more than 3",
        ),
        (
            {"max_gpus_per_namespace": 1},
            {"type": "local"},
            {"resources": {"limits": {"nvidia.com/gpu": 2}}},
            "backend.trainer.resources_per_worker.GPU: 2 GPUs are more than 1",
        ),
        (
            {"max_gpus_per_job": 5},
            ray(num_workers=3, use_gpu=False),
            {"resources": {"requests": {"nvidia.com/mig-1g.5gb": "2"}, "limits": {"nvidia.com/mig-1g.5gb": 2}}},
            "backend.trainer.resources_per_worker.GPU: 6 GPUs are more than 5",
        ),
        (
            {"max_gpus_per_job": 5},
            ray(num_workers=2, resources_per_worker={"GPU": 1}),
            {
                "head": {"resources": {"limits": {"nvidia.com/gpu": 1}}},
                "worker": {"resources": {"limits": {"nvidia.com/gpu": 9}}},
                "initContainers": [{"name": "a", "resources": {"limits": {"amd.com/gpu": 1}}}],
            },
            "backend.trainer.resources_per_worker.GPU: 6 GPUs are more than 5",
        ),
    ],
)
def test_sizes(limits: dict[str, int], backend: dict[str, Any], template: dict[str, Any], line: str) -> None:
    assert refused(Policy(**limits), backend=backend, podTemplate=template).startswith(f"late: {line}")
    larger = {name: limit + 99 for name, limit in limits.items()}
    assert refused(Policy(**larger), backend=backend, podTemplate=template) == ""


def test_an_open_size_counts_as_what_it_was_resolved_to() -> None:
    policy, backend = Policy(max_gpus_per_job=2), ray(num_workers=3)
    assert refused(policy, backend=backend) == ""
    assert refused(policy, Resolved(workers=3, workers_per_pod=1, gpus=3), backend=backend).startswith(
        "late: backend.trainer.resources_per_worker.GPU: 3 GPUs are more than 2"
    )


def test_all_that_is_forbidden_is_listed_at_once() -> None:
    found = refused(backend={"cache_credentials": {"key": "x"}}, podTemplate={"serviceAccountName": "admin"})
    assert found.splitlines()[0] == "late: 2 mistakes"


def test_an_unknown_host_setting_is_a_mistake_of_the_settings() -> None:
    assert list(Policy(host_settings=("hostPID",)).mistakes()) == [
        "policy host_settings: 'hostPID' is none of hostNetwork, hostIPC, root, capabilities, privileged"
    ]
