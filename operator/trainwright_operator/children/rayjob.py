"""The RayJob: one per attempt and stage. KubeRay creates a cluster and one submission for it.

Only lost workers are retried, by Ray Train. The loss of the head ends the attempt and does not run the entrypoint
again (`restartPolicy: Never`, one submission). The submitter is a separate pod, because only that submission mode can
pass the Pod Security Standard *restricted*; the pod outlives the cluster and keeps the end of the log. Kueue writes
`suspend`, and requires that clusters are shut down at the end.

KubeRay pastes the entrypoint and `rayStartParams` unquoted into shell commands, so this module escapes every text of a
user. The parameters are explicit, because KubeRay derives them wrong: it reads CPUs from limits, which are not set, and
GPUs from limits by the resource's name, which misses some MIG profiles.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from trainwright_operator.children import env, pod_resources, volumes
from trainwright_operator.children.child_spec import ChildSpec
from trainwright_operator.children.identity import child_metadata
from trainwright_operator.children.job import COMMAND
from trainwright_operator.children.kind import Builders, ChildKind, Requirement
from trainwright_operator.children.network import DASHBOARD_PORT, ray_policy
from trainwright_operator.children.pods import RAY, SUBMITTER, container, pod
from trainwright_operator.children.rayjob_state import gangs_of_ray_job, pods_of_ray_job, state_of_ray_job
from trainwright_operator.kube.resources import RAY_JOBS
from trainwright_operator.model.observed import Manifest

ENTRYPOINT = " ".join(COMMAND)
GROUP = "workers"
HEAD_PORTS = {"gcs-server": 6379, "dashboard": DASHBOARD_PORT}
_INERT = re.compile(r"[A-Za-z0-9_.:/-]")
"""Characters without a special meaning in a shell, in JSON and in Kubernetes' $(VARIABLE)."""


def ray_job(child_spec: ChildSpec) -> Manifest:
    return {
        "apiVersion": "ray.io/v1",
        "kind": "RayJob",
        "metadata": child_metadata(child_spec),
        "spec": {
            "entrypoint": ENTRYPOINT,
            "submissionMode": "K8sJobMode",
            "submitterPodTemplate": _submitter(child_spec),
            "submitterConfig": {"backoffLimit": 0},
            "backoffLimit": 0,
            "shutdownAfterJobFinishes": True,
            "rayClusterSpec": _cluster(child_spec),
        },
    }


def _cluster(child_spec: ChildSpec) -> dict[str, Any]:
    return {
        "rayVersion": child_spec.ray_version,
        "authOptions": {"mode": "token"},
        "headGroupSpec": {"rayStartParams": head_params(), "template": _head(child_spec)},
        "workerGroupSpecs": [
            {
                "groupName": GROUP,
                "replicas": child_spec.pods,
                "minReplicas": child_spec.pods,
                "maxReplicas": child_spec.pods,
                "rayStartParams": worker_params(child_spec),
                "template": _worker(child_spec),
            }
        ],
    }


def _head(child_spec: ChildSpec) -> dict[str, Any]:
    """Return the head's pod. It runs the driver, so it has the training program's mounts, but not the workers'
    resources."""
    mounted = [*volumes.of_the_job(child_spec), volumes.scratch()]
    values = {**env.of_the_job(child_spec), **env.of_a_head()}
    resources = pod_resources.of_head(child_spec)
    made = container(child_spec, RAY, "head", env=values, resources=resources, mounted=mounted)
    made["ports"] = [{"name": name, "containerPort": port} for name, port in HEAD_PORTS.items()]
    return pod(child_spec, made, "head", mounted)


def _worker(child_spec: ChildSpec) -> dict[str, Any]:
    mounted = [*volumes.of_the_job(child_spec), volumes.scratch()]
    values = {**env.of_the_job(child_spec), **env.of_a_ray_worker()}
    resources = pod_resources.of_workers(child_spec)
    made = container(child_spec, RAY, "worker", env=values, resources=resources, mounted=mounted)
    return pod(child_spec, made, "worker", mounted)


def _submitter(child_spec: ChildSpec) -> dict[str, Any]:
    """Return the submitter's pod. KubeRay gives it the dashboard's address and token; it needs nothing of the job."""
    mounted = [volumes.scratch()]
    resources = pod_resources.of_submitter(child_spec)
    made = container(child_spec, SUBMITTER, "submitter", env=env.HOME, resources=resources, mounted=mounted)
    return pod(child_spec, made, "submitter", mounted)


def head_params() -> dict[str, str]:
    """Return the head's parameters: Ray runs no tasks on it. Without num-gpus, it would offer GPUs that a node exposes
    to all containers."""
    return {"num-cpus": "0", "num-gpus": "0", "dashboard-host": "0.0.0.0"}


def worker_params(child_spec: ChildSpec) -> dict[str, str]:
    """Return the workers' parameters. num-cpus is a whole number, at least 1 per pod: preprocessing tasks need it."""
    params = {
        "num-cpus": str(max(1, math.ceil(child_spec.cpus_per_pod))),
        "num-gpus": str(child_spec.gpus_per_pod),
    }
    if child_spec.custom_resources_per_pod:
        params["resources"] = quoted(child_spec.custom_resources_per_pod)
    return params


def quoted(resources: Mapping[str, float]) -> str:
    """Return JSON in single quotes, as KubeRay and the shell need it. Special characters of names are escaped."""
    pairs = ", ".join(f'"{_escaped(name)}": {json.dumps(amount)}' for name, amount in resources.items())
    return f"'{{{pairs}}}'"


def _escaped(name: str) -> str:
    return "".join(character if _INERT.match(character) else _code(character) for character in name)


def _code(character: str) -> str:
    units = character.encode("utf-16-be", "surrogatepass")
    return "".join(f"\\u{units[at]:02x}{units[at + 1]:02x}" for at in range(0, len(units), 2))


RAY_JOB = ChildKind(
    resource=RAY_JOBS,
    spec_key="entrypoint",
    backends=MappingProxyType({"ray": Builders(ray_job, (ray_policy,))}),
    state=state_of_ray_job,
    pods=pods_of_ray_job,
    gangs=gangs_of_ray_job,
    needs=Requirement(
        "KubeRayMissing", "backend ray needs KubeRay 1.6 or later, which is not installed in this cluster"
    ),
)
