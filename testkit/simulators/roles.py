"""The role of a pod in its child."""

from __future__ import annotations

from collections.abc import Iterator

from testkit.api import Manifest
from testkit.simulators.mirror import Mirror, job_uid
from testkit.simulators.origin import origin

SUBMITTER = "simulators.trainwright.dev/submitter"
"""KubeRay labels the Job, not its pod."""
INDEX = "batch.kubernetes.io/job-completion-index"


def is_ray_node(pod: Manifest) -> bool:
    return "ray.io/node-type" in _labels(pod)


def is_head(pod: Manifest) -> bool:
    return _labels(pod).get("ray.io/node-type") == "head"


def is_submitter(pod: Manifest) -> bool:
    return SUBMITTER in pod["metadata"].get("annotations", {})


def is_first(pod: Manifest) -> bool:
    """True for the pod that follows the script: the submitter of a RayJob, the first pod of a Job."""
    return not is_ray_node(pod) and _labels(pod).get(INDEX, "0") == "0"


def head_of(ray_pod: Manifest, pods: Mirror) -> Manifest | None:
    """The head that this submitter or worker connects to, while it lives."""
    return next((pod for pod in _living(ray_pod, pods) if is_head(pod)), None)


def is_left_alone(pod: Manifest, pods: Mirror) -> bool:
    """True for a Ray worker without its head and a gang member without the first pod: they end after a while."""
    if is_head(pod) or is_first(pod):
        return False
    return not any(is_head(other) if is_ray_node(pod) else is_first(other) for other in _living(pod, pods))


def _living(pod: Manifest, pods: Mirror) -> Iterator[Manifest]:
    """Pods of the same attempt and stage that exist and are not being deleted."""
    for other in pods.related_to(job_uid(pod)):
        there = other.get("status", {}).get("phase") in ("Pending", "Running")
        if there and "deletionTimestamp" not in other["metadata"] and origin(other) == origin(pod):
            yield other


def _labels(pod: Manifest) -> Manifest:
    found: Manifest = pod["metadata"].get("labels", {})
    return found
