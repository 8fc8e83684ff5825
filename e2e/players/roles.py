"""Which part a pod plays in its child."""

from __future__ import annotations

from e2e.api import Manifest
from e2e.players.mirror import Mirror, job_uid

from trainwright_operator import names

SUBMITTER = "players.trainwright.dev/submitter"
"""KubeRay marks the Job, not its pod."""
INDEX = "batch.kubernetes.io/job-completion-index"


def is_ray_node(pod: Manifest) -> bool:
    return "ray.io/node-type" in _labels(pod)


def is_head(pod: Manifest) -> bool:
    return _labels(pod).get("ray.io/node-type") == "head"


def is_submitter(pod: Manifest) -> bool:
    return SUBMITTER in pod["metadata"].get("annotations", {})


def is_first(pod: Manifest) -> bool:
    """The one whose script is played: the submitter of a RayJob, the first pod of a Job."""
    return not is_ray_node(pod) and _labels(pod).get(INDEX, "0") == "0"


def head_of(submitter: Manifest, pods: Mirror) -> Manifest | None:
    """The head that this submitter talks to, while it lives."""
    attempt = _labels(submitter).get(names.ATTEMPT)
    return next(
        (
            pod
            for pod in pods.related_to(job_uid(submitter))
            if is_head(pod)
            and _labels(pod).get(names.ATTEMPT) == attempt
            and "deletionTimestamp" not in pod["metadata"]
            and pod.get("status", {}).get("phase") in ("Pending", "Running")
        ),
        None,
    )


def _labels(pod: Manifest) -> Manifest:
    found: Manifest = pod["metadata"].get("labels", {})
    return found
