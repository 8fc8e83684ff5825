"""The batch/v1 Jobs: one pod for `local`, a gang for `deepspeed` and `horovod`, one preprocess pod for any backend.

Only the operator retries: `backoffLimit: 0` and `restartPolicy: Never`. So the first pod of a gang that fails or is
being deleted fails the Job, which ends the other pods at once. (With a pod failure policy, the Job would wait until a
terminating pod is gone, which never happens on a lost node.) Kueue writes `suspend`. The operator implements the time
to live itself, so the Job has no `ttlSecondsAfterFinished`.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from trainwright_api.resource import environment
from trainwright_operator.children import env, pod_resources, volumes
from trainwright_operator.children.child_spec import ChildSpec
from trainwright_operator.children.identity import child_metadata
from trainwright_operator.children.kind import Builders, ChildKind, Gang, State
from trainwright_operator.children.network import gang_policy
from trainwright_operator.children.overlay import Role
from trainwright_operator.children.pods import TRAINER, container, pod
from trainwright_operator.children.service import service
from trainwright_operator.kube.resources import JOBS
from trainwright_operator.model.observed import ChildState, Manifest
from trainwright_operator.model.reading import condition, mapping, number, text, time

COMMAND = ("trainwright", "run", environment.JOB_FILE)


def _single(child_spec: ChildSpec) -> Manifest:
    return _job(child_spec, {"template": _template(child_spec, {})})


def preprocess_job(child_spec: ChildSpec) -> Manifest:
    """Return the Job of the preprocess stage. `podTemplate` schedules it like other pods; it reserves no device."""
    return _job(child_spec, {"template": _template(child_spec, dict(env.WITHOUT_GPUS))})


def _indexed(child_spec: ChildSpec) -> Manifest:
    """Return the Job of a gang. Its pods start together, each with an index and a name that the others can resolve."""
    template = _template(child_spec, dict(env.of_a_gang(child_spec)))
    template["spec"]["subdomain"] = child_spec.common_name
    count = child_spec.pods
    return _job(
        child_spec, {"completionMode": "Indexed", "completions": count, "parallelism": count, "template": template}
    )


def _job(child_spec: ChildSpec, spec: dict[str, Any]) -> Manifest:
    return {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": child_metadata(child_spec),
        "spec": {"backoffLimit": 0, **spec},
    }


def _template(child_spec: ChildSpec, extra: dict[str, str]) -> dict[str, Any]:
    mounted = [*volumes.of_the_job(child_spec), volumes.scratch(), volumes.shared_memory()]
    resources = (
        pod_resources.of_preprocessing(child_spec) if child_spec.prepares else pod_resources.of_workers(child_spec)
    )
    cpus = {environment.CPUS: str(pod_resources.cpus(child_spec, resources))}
    values = {**env.of_the_job(child_spec), **cpus, **extra}
    role: Role = "preprocess" if child_spec.prepares else "worker"
    made = container(child_spec, TRAINER, role, env=values, resources=resources, mounted=mounted, command=COMMAND)
    return pod(child_spec, made, role, mounted)


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


def pods_of_job(spec: Mapping[str, Any]) -> int:
    return number(spec.get("parallelism")) or 1


def gangs_of_job(spec: Mapping[str, Any]) -> tuple[Gang, ...]:
    return (Gang(spec["template"]["spec"], spec.get("parallelism", 1)),)


def _all_run(spec: Mapping[str, Any], status: Mapping[str, Any]) -> bool:
    """Return True if all pods run: a gang trains once its last pod runs. Our pods are ready when the container runs."""
    ready, succeeded = number(status.get("ready")) or 0, number(status.get("succeeded")) or 0
    return ready > 0 and ready + succeeded >= pods_of_job(spec)


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
    spec_key="template",
    backends=MappingProxyType(
        {
            "local": Builders(_single),
            "deepspeed": Builders(_indexed, (service, gang_policy)),
            "horovod": Builders(_indexed, (service, gang_policy)),
        }
    ),
    state=state_of_job,
    pods=pods_of_job,
    gangs=gangs_of_job,
    # A Job counts ready pods. When they end, it has none, until the Job itself ends.
    pending_after_pods=True,
)
