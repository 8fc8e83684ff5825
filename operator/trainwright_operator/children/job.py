"""The batch/v1 Jobs: one pod for `local`, a gang for `deepspeed` and `horovod`, one preprocess pod for any backend.

Only the operator retries: `backoffLimit: 0` and `restartPolicy: Never`. So the first pod of a gang that fails or is
being deleted fails the Job, which ends the other pods at once. (With a pod failure policy, the Job would wait until a
terminating pod is gone, which never happens on a lost node.) Kueue writes `suspend`. The operator implements the time
to live itself, so the Job has no `ttlSecondsAfterFinished`.
"""

from __future__ import annotations

from typing import Any

from trainwright_api.resource import environment
from trainwright_operator.children import env, pod_resources, volumes
from trainwright_operator.children.child_spec import ChildSpec
from trainwright_operator.children.identity import child_metadata
from trainwright_operator.children.pods import TRAINER, pod, trainer_container
from trainwright_operator.model.observed import Manifest

COMMAND = ("trainwright", "run", environment.JOB_FILE)


def single_job(child_spec: ChildSpec) -> Manifest:
    return _job(child_spec, {"template": _template(child_spec, {})})


def preprocess_job(child_spec: ChildSpec) -> Manifest:
    """Return the Job of the preprocess stage. `podTemplate` schedules it like other pods; it reserves no device."""
    return _job(child_spec, {"template": _template(child_spec, dict(env.WITHOUT_GPUS))})


def indexed_job(child_spec: ChildSpec) -> Manifest:
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
    made = trainer_container(child_spec, TRAINER, env=values, resources=resources, mounted=mounted, command=COMMAND)
    return pod(child_spec, made, mounted)
