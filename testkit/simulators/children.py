"""Children and their pods: the attempt and stage in their names, the role of a pod, the end of a child."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from testkit.api import Manifest, condition
from testkit.simulators.mirror import Mirror, job_uid

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


_NAME = re.compile(r".+-[0-9a-f]{8}-(?P<attempt>[0-9]+)-(?P<stage>[a-z]+)(?:-.+)?", re.ASCII)


class Origin(NamedTuple):
    attempt: int
    stage: str


def has_origin(pod: Manifest) -> bool:
    return _NAME.fullmatch(pod["metadata"]["name"]) is not None


def origin(child_or_pod: Manifest) -> Origin:
    """Raises ValueError if neither the operator nor the child's controller gave the name."""
    name = child_or_pod["metadata"]["name"]
    found = _NAME.fullmatch(name)
    if found is None:
        raise ValueError(f"{name} is not named after an attempt")
    return Origin(int(found["attempt"]), found["stage"])


RAY_ENDS = ("Complete", "Failed", "ValidationFailed")


def is_finished(child: Manifest) -> bool:
    if child.get("kind") == "RayJob":
        return child.get("status", {}).get("jobDeploymentStatus") in RAY_ENDS
    return "True" in (condition(child, "Complete"), condition(child, "Failed"))
