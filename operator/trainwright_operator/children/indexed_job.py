"""The Indexed Job of a gang, for `deepspeed` and `horovod`.

Its pods start together, each with an index and a name that the others can resolve. The first pod that fails or is being
deleted fails the Job, which ends the other pods at once. (With a pod failure policy, the Job would wait until a
terminating pod is gone, which never happens on a lost node.)
"""

from __future__ import annotations

from trainwright_operator.children import env
from trainwright_operator.children.child_spec import ChildSpec
from trainwright_operator.children.job import gang_of_job, manifest, state_of_job, template
from trainwright_operator.children.kind import ChildKind
from trainwright_operator.children.network import gang_policy
from trainwright_operator.children.service import service
from trainwright_operator.kube.resources import JOBS
from trainwright_operator.model.observed import Manifest


def gang_of_pods(child_spec: ChildSpec) -> Manifest:
    """Return the Job. Each pod has the resources of its workers, as the pod of `local` has."""
    pod = template(child_spec, env.of_a_gang(child_spec))
    pod["spec"]["subdomain"] = child_spec.common_name
    count = child_spec.pods
    return manifest(
        child_spec, {"completionMode": "Indexed", "completions": count, "parallelism": count, "template": pod}
    )


INDEXED_JOB = ChildKind(
    resource=JOBS,
    backends=("deepspeed", "horovod"),
    is_kind=lambda spec: spec.get("completionMode") == "Indexed",
    build=gang_of_pods,
    state=state_of_job,
    gang=gang_of_job,
    network=(service, gang_policy),
    # A Job counts ready pods. When they end, it has none, until the Job itself ends.
    pending_after_pods=True,
)
