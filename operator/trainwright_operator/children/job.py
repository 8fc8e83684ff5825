"""The batch/v1 Job of one pod: for `local`, and for the preprocess stage without a distributed processor.

Only the operator retries: `backoffLimit: 0` and `restartPolicy: Never`. Kueue writes `suspend`. The operator implements
the time to live itself, so the Job has no `ttlSecondsAfterFinished`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from trainwright_api.resource import environment
from trainwright_operator.children import env, pod_resources, volumes
from trainwright_operator.children.child_spec import ChildSpec
from trainwright_operator.children.identity import child_metadata
from trainwright_operator.children.kind import ChildKind, State
from trainwright_operator.children.pods import TRAINER, container, pod
from trainwright_operator.kube.resources import JOBS
from trainwright_operator.model.observed import ChildState, Manifest
from trainwright_operator.model.reading import condition, mapping, number, text, time

COMMAND = ("trainwright", "run", environment.JOB_FILE)


def one_pod(child_spec: ChildSpec) -> Manifest:
    """Return the Job. In the preprocess stage `podTemplate` schedules it like other pods; it reserves no device."""
    return manifest(child_spec, {"template": template(child_spec, env.of_the_stage(child_spec))})


def manifest(child_spec: ChildSpec, spec: dict[str, Any]) -> Manifest:
    """Return a Job with these fields of its spec."""
    return {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": child_metadata(child_spec),
        "spec": {"backoffLimit": 0, **spec},
    }


def template(child_spec: ChildSpec, extra: Mapping[str, str]) -> dict[str, Any]:
    """Return the pod template of the training program. `extra`: further environment variables."""
    mounted = [*volumes.of_the_job(child_spec), volumes.scratch(), volumes.shared_memory()]
    resources = pod_resources.of_stage(child_spec)
    cpus = {environment.CPUS: str(pod_resources.cpus(child_spec, resources))}
    values = {**env.of_the_job(child_spec), **cpus, **extra}
    made = container(
        child_spec, TRAINER, child_spec.role, env=values, resources=resources, mounted=mounted, command=COMMAND
    )
    return pod(child_spec, made, child_spec.role, mounted)


def state_of_job(raw: Mapping[str, Any]) -> State:
    spec, status = mapping(raw, "spec"), mapping(raw, "status")
    failed = condition(status, "Failed") or condition(status, "FailureTarget")
    if condition(status, "Complete"):
        return _ended("succeeded", status, {})
    if failed:
        return _ended("failed", status, failed)
    if spec.get("suspend") is True:
        return State("suspended")
    # A Job's status does not show when its pods ran: its startTime includes the wait for room.
    return State("running" if _all_run(spec, status) else "pending")


def gang_of_job(spec: Mapping[str, Any]) -> int:
    return number(spec.get("parallelism")) or 1


def _all_run(spec: Mapping[str, Any], status: Mapping[str, Any]) -> bool:
    """Return True if all pods run: a gang trains once its last pod runs. Our pods are ready when the container runs."""
    ready, succeeded = number(status.get("ready")) or 0, number(status.get("succeeded")) or 0
    return ready > 0 and ready + succeeded >= gang_of_job(spec)


def _ended(state: ChildState, status: Mapping[str, Any], why: Mapping[str, Any]) -> State:
    return State(
        state,
        started=time(status.get("startTime")),
        finished=time(status.get("completionTime")) or time(why.get("lastTransitionTime")),
        reason=text(why.get("reason")),
        message=text(why.get("message")),
    )


JOB = ChildKind(
    resource=JOBS,
    backends=("local",),
    is_kind=lambda spec: "template" in spec and spec.get("completionMode") != "Indexed",
    build=one_pod,
    state=state_of_job,
    gang=gang_of_job,
    # A Job counts ready pods. When they end, it has none, until the Job itself ends.
    pending_after_pods=True,
)
