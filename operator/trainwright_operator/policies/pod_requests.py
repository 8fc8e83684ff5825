"""The requests of the pods of a RayJob before they exist: of a pod of workers, and of the pods beside them."""

from __future__ import annotations

from collections.abc import Mapping

from trainwright_api.resource.canonical import canonical
from trainwright_api.resource.job import TrainingJobSpec
from trainwright_api.resource.size import asked_resources
from trainwright_operator.children import overlay
from trainwright_operator.children.overlay import Role, Template, template_of
from trainwright_operator.children.rayjob import HEAD, SUBMITTER_SHARE
from trainwright_operator.model.observed import Amounts
from trainwright_operator.policies.gpus import whole
from trainwright_operator.policies.in_use import PODS, plus, requests_of, sums
from trainwright_operator.settings import Settings


def of_worker_pod(spec: TrainingJobSpec, share: float, together: int, settings: Settings) -> Amounts:
    """Return the requests of a pod with `together` workers. `share`: the GPUs of each worker."""
    cpus = round(asked_resources(spec).get("CPU", 1.0) * together, 6)
    gpus = {spec.gpu_resource_name: f"{whole(share * together)}"} if share else {}
    own = {"requests": {"cpu": f"{cpus}"}, "limits": gpus}
    merged = overlay.resources(own, template(spec, "worker", settings), (spec.gpu_resource_name,))
    return {**requests_of(merged), PODS: 1.0}


def scheduling(spec: TrainingJobSpec, share: float, settings: Settings) -> Template:
    """Return the scheduling fields of pods with workers, as in a pod spec. `share`: the GPUs of each worker."""
    return overlay.tolerating(template(spec, "worker", settings), of_worker_pod(spec, share, 1, settings))


def of_pods_beside(spec: TrainingJobSpec, settings: Settings) -> Amounts:
    """Return the sum of the requests of the head and the submitter."""
    found = sums()
    parts: tuple[tuple[Role, Mapping[str, object]], ...] = (("head", HEAD), ("submitter", SUBMITTER_SHARE))
    for role, own in parts:
        plus(found, {**requests_of(overlay.resources(own, template(spec, role, settings), ())), PODS: 1.0})
    return found


def template(spec: TrainingJobSpec, role: Role, settings: Settings) -> Template:
    """Return the overlay on the pods of a role, with the administrator's defaults."""
    given = {} if spec.pod_template is None else canonical(spec.pod_template)
    return template_of(role, settings.jobs.pod_template, given)
