"""The batch/v1 Jobs: one pod for `local`, a gang of them for `deepspeed` and `horovod`, one to preprocess for any.

Every retry is the operator's: `backoffLimit: 0` and `restartPolicy: Never`. For a gang that also means that the first
pod that fails, or is being deleted, fails the Job, which ends the others at once. (A pod failure policy would make the
Job wait until a pod that is being deleted has gone, which on a lost node is never.) `suspend` is Kueue's to write, and
the time to live is the operator's.
"""

from __future__ import annotations

from typing import Any

from trainwright_api.resource import environment
from trainwright_operator.children import env as variables
from trainwright_operator.children import pod_resources, volumes
from trainwright_operator.children.child_spec import ChildSpec
from trainwright_operator.children.identity import child_metadata
from trainwright_operator.children.pods import TRAINER, pod, trainer_container
from trainwright_operator.model.observed import Manifest

COMMAND = ("trainwright", "run", environment.JOB_FILE)


def single_job(child_spec: ChildSpec) -> Manifest:
    return _job(child_spec, {"template": _template(child_spec, {})})


def preprocess_job(child_spec: ChildSpec) -> Manifest:
    """The phase before training on GPUs. It goes where `podTemplate` sends all pods of the job, but holds no device."""
    return _job(child_spec, {"template": _template(child_spec, dict(variables.WITHOUT_GPUS))})


def indexed_job(child_spec: ChildSpec) -> Manifest:
    """All pods start together, each with its index and a name that the others can resolve."""
    template = _template(child_spec, dict(variables.of_a_gang(child_spec)))
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
    env = {**variables.of_the_job(child_spec), **cpus, **extra}
    made = trainer_container(child_spec, TRAINER, env=env, resources=resources, mounted=mounted, command=COMMAND)
    return pod(child_spec, made, mounted)
