"""The RayJob: one per attempt and stage. KubeRay creates a cluster and one submission for it.

Only lost workers are retried, by Ray Train. The loss of the head ends the attempt and does not run the entrypoint
again (`restartPolicy: Never`, one submission). The submitter is a separate pod, because only that submission mode can
pass the Pod Security Standard *restricted*; the pod outlives the cluster and keeps the end of the log. Kueue writes
`suspend`, and requires that clusters are shut down at the end.

KubeRay pastes the entrypoint and Ray's parameters into shell commands, so they must not contain a user's text.
"""

from __future__ import annotations

from typing import Any

from trainwright_operator.children import env, pod_resources, rayparams, volumes
from trainwright_operator.children.child_spec import ChildSpec
from trainwright_operator.children.identity import child_metadata
from trainwright_operator.children.job import COMMAND
from trainwright_operator.children.network import DASHBOARD_PORT
from trainwright_operator.children.pods import RAY, SUBMITTER, container, pod, trainer_container
from trainwright_operator.model.observed import Manifest

ENTRYPOINT = " ".join(COMMAND)
GROUP = "workers"
HEAD_PORTS = {"gcs-server": 6379, "dashboard": DASHBOARD_PORT}


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
        "headGroupSpec": {"rayStartParams": rayparams.of_the_head(), "template": _head(child_spec)},
        "workerGroupSpecs": [
            {
                "groupName": GROUP,
                "replicas": child_spec.pods,
                "minReplicas": child_spec.pods,
                "maxReplicas": child_spec.pods,
                "rayStartParams": rayparams.of_workers(child_spec),
                "template": _worker(child_spec),
            }
        ],
    }


def _head(child_spec: ChildSpec) -> dict[str, Any]:
    """Return the head's pod. It runs the driver, so it has the training program's mounts, but not the workers'
    resources."""
    mounted = [*volumes.of_the_job(child_spec), volumes.scratch()]
    values = {**env.of_the_job(child_spec), **env.of_a_head()}
    made = trainer_container(child_spec, RAY, env=values, resources=pod_resources.HEAD, mounted=mounted)
    made["ports"] = [{"name": name, "containerPort": port} for name, port in HEAD_PORTS.items()]
    return pod(child_spec, made, mounted)


def _worker(child_spec: ChildSpec) -> dict[str, Any]:
    mounted = [*volumes.of_the_job(child_spec), volumes.scratch()]
    values = {**env.of_the_job(child_spec), **env.of_a_ray_worker()}
    made = trainer_container(
        child_spec, RAY, env=values, resources=pod_resources.of_workers(child_spec), mounted=mounted
    )
    return pod(child_spec, made, mounted)


def _submitter(child_spec: ChildSpec) -> dict[str, Any]:
    """Return the submitter's pod. KubeRay gives it the dashboard's address and token; it needs nothing of the job."""
    mounted = [volumes.scratch()]
    made = container(child_spec, SUBMITTER, env=env.HOME, resources=pod_resources.SUBMITTER, mounted=mounted)
    return pod(child_spec, made, mounted, volumes=False)
