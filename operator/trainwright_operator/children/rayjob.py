"""The RayJob: one per attempt and stage. KubeRay creates a cluster and one submission for it.

Only lost workers are retried, by Ray Train. The loss of the head ends the attempt and does not run the entrypoint
again (`restartPolicy: Never`, one submission). The submitter is a separate pod, because only that submission mode can
pass the Pod Security Standard *restricted*; the pod outlives the cluster and keeps the end of the log. Kueue writes
`suspend`, and requires that clusters are shut down at the end.

KubeRay pastes the entrypoint unquoted into a shell command, so no text of a user reaches it.

Its state follows from two fields of its status. Either field alone is misleading:

jobDeploymentStatus   jobStatus           state
Complete              SUCCEEDED           succeeded
Complete              any other value     failed: a stopped Ray job also becomes Complete
Failed                any value           failed: after the loss of the head, jobStatus stays RUNNING for ever
ValidationFailed      -                   failed: KubeRay does not reconcile it again
Suspending, Suspended -                   suspended; also a RayJob with spec.suspend that has not ended
Running               RUNNING, or ended   running: the RayJob ends only when KubeRay has seen the submitter end too
any other value       -                   pending
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import datetime
from types import MappingProxyType
from typing import Any

from trainwright_api.resource.redaction import redacted_text
from trainwright_operator.children import env, overlay, pod_resources, volumes
from trainwright_operator.children.child_spec import ChildSpec
from trainwright_operator.children.identity import child_metadata
from trainwright_operator.children.job import COMMAND
from trainwright_operator.children.kind import ChildKind, Requirement, State
from trainwright_operator.children.network import DASHBOARD_PORT, ray_policy
from trainwright_operator.children.pods import RAY, SUBMITTER, container, pod
from trainwright_operator.children.ray_start_params import head_params, worker_params
from trainwright_operator.kube.resources import JOBS, RAY_CLUSTERS, RAY_JOBS
from trainwright_operator.model.observed import ChildState, Manifest
from trainwright_operator.model.reading import condition, mapping, mappings, number, text, time
from trainwright_operator.model.refusals import cause

ENTRYPOINT = " ".join(COMMAND)
GROUP = "workers"
HEAD: Mapping[str, Any] = MappingProxyType({"requests": {"cpu": "250m", "memory": "1Gi"}})
"""The head runs the GCS, the dashboard and the driver, and trains nothing. It has no limits and may use idle CPUs.
Like the submitter, it is small for workers of any size; `podTemplate.head.resources` changes it."""
SUBMITTER_SHARE: Mapping[str, Any] = MappingProxyType(
    {"requests": {"cpu": "100m", "memory": "256Mi"}, "limits": {"memory": "1Gi"}}
)
"""The submitter only follows a log. KubeRay's default would reserve 500m CPU."""
HEAD_PORTS = {"gcs-server": 6379, "dashboard": DASHBOARD_PORT}
NOT_STARTED = ("", "PENDING")
FIRST_CHARACTERS, LAST_CHARACTERS = 1024, 4096
"""The parts of a message that are kept: KubeRay puts up to 20,000 characters of log into it."""
_EXIT_CODE = re.compile(r"failed with exit code (-?[0-9]{1,9})\b", re.ASCII)
_LOG_FOLLOWS = re.compile(r", last available logs.*:$")
"""The words of Ray before the log, in the first line of a message."""


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
    mounted = [*volumes.of_the_job(child_spec), volumes.scratch(), volumes.shared_memory()]
    values = {**env.of_the_job(child_spec), **env.of_a_head()}
    resources = overlay.resources(HEAD, child_spec.template("head"), ())
    made = container(child_spec, RAY, "head", env=values, resources=resources, mounted=mounted)
    made["ports"] = [{"name": name, "containerPort": port} for name, port in HEAD_PORTS.items()]
    return pod(child_spec, made, "head", mounted)


def _worker(child_spec: ChildSpec) -> dict[str, Any]:
    """Return the pod of workers, or in the preprocess stage a pod without GPUs for the tasks of the processor."""
    mounted = [*volumes.of_the_job(child_spec), volumes.scratch(), volumes.shared_memory()]
    values = {**env.of_the_job(child_spec), **env.of_a_ray_worker(), **env.of_the_stage(child_spec)}
    resources = pod_resources.of_stage(child_spec)
    made = container(child_spec, RAY, child_spec.role, env=values, resources=resources, mounted=mounted)
    return pod(child_spec, made, child_spec.role, mounted)


def _submitter(child_spec: ChildSpec) -> dict[str, Any]:
    """Return the submitter's pod. KubeRay gives it the dashboard's address and token; it needs nothing of the job."""
    mounted = [volumes.scratch()]
    resources = overlay.resources(SUBMITTER_SHARE, child_spec.template("submitter"), ())
    made = container(child_spec, SUBMITTER, "submitter", env=env.HOME, resources=resources, mounted=mounted)
    return pod(child_spec, made, "submitter", mounted)


def state_of_ray_job(raw: Mapping[str, Any]) -> State:
    status = mapping(raw, "status")
    word = text(status.get("jobStatus"))
    state = _state(text(status.get("jobDeploymentStatus")), word, mapping(raw, "spec").get("suspend") is True)
    # Redact before truncation: a truncated secret would no longer match the patterns.
    message = redacted_text(text(status.get("message")))
    ended = state in ("succeeded", "failed")
    return State(
        state,
        started=None if state in ("pending", "suspended") or word in NOT_STARTED else _started(status),
        finished=(time(status.get("endTime")) or _of_ray(status, "endTime")) if ended else None,
        exit_code=_exit_code(message) if state == "failed" else None,
        reason=text(status.get("reason")) or (word if state == "failed" else ""),
        message=_first_line(message),
        log_tail=_cut(message),
        pods_refused=_pods_refused(status),
    )


def _pods_refused(status: Mapping[str, Any]) -> str:
    """Return KubeRay's reason and the API server's message, which it joins by a line break."""
    found = condition(mapping(status, "rayClusterStatus"), "ReplicaFailure")
    return cause(text(found.get("message"))) if found else ""


def gang_of_ray_job(spec: Mapping[str, Any]) -> int:
    """Return the number of pods of the cluster, without the submitter."""
    groups = mappings(mapping(spec, "rayClusterSpec").get("workerGroupSpecs"))
    return 1 + sum(number(group.get("replicas")) or 0 for group in groups)


def _state(deployment: str, job: str, suspend: bool) -> ChildState:
    if deployment == "Complete":
        return "succeeded" if job == "SUCCEEDED" else "failed"
    if deployment in ("Failed", "ValidationFailed"):
        return "failed"
    if suspend or deployment in ("Suspending", "Suspended"):
        return "suspended"
    return "running" if deployment == "Running" and job not in NOT_STARTED else "pending"


def _started(status: Mapping[str, Any]) -> datetime | None:
    """Return the time when Ray started the job. KubeRay's own startTime includes the wait for room."""
    return _of_ray(status, "startTime") or time(status.get("startTime"))


def _of_ray(status: Mapping[str, Any], key: str) -> datetime | None:
    return time(mapping(status, "rayJobInfo").get(key))


def _exit_code(message: str) -> int | None:
    """Return the exit code in the first line, which KubeRay writes before the log. Signal n gives 128 + n, as in a
    shell."""
    found = _EXIT_CODE.search(message.partition("\n")[0])
    code = int(found[1]) if found else None
    return 128 - code if code is not None and code < 0 else code


def _first_line(message: str) -> str:
    """Return KubeRay's own line, without the words that announce the log."""
    return _LOG_FOLLOWS.sub("", message.partition("\n")[0].strip())[:FIRST_CHARACTERS]


def _cut(message: str) -> str:
    if len(message) <= FIRST_CHARACTERS + LAST_CHARACTERS:
        return message
    return f"{message[:FIRST_CHARACTERS]}\n{message[-LAST_CHARACTERS:]}"


RAY_JOB = ChildKind(
    resource=RAY_JOBS,
    backends=("ray",),
    is_kind=lambda spec: "entrypoint" in spec,
    build=ray_job,
    state=state_of_ray_job,
    gang=gang_of_ray_job,
    # A Job has the submitter.
    owners_of_pods=(RAY_CLUSTERS, JOBS),
    network=(ray_policy,),
    needs=Requirement(
        "KubeRayMissing", "backend ray needs KubeRay 1.6 or later, which is not installed in this cluster"
    ),
)
