"""Checks a job's spec for values that KubeRay refuses, and for values that would open a Ray cluster to others.

KubeRay reports such values only in the events of a RayCluster, while the job waits.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from types import MappingProxyType

from trainwright_api.problems import Problem
from trainwright_api.resource.job import TrainingJobSpec
from trainwright_api.resource.kubernetes import EnvironmentVariable

OLDEST_RAY = (2, 52, 0)
"""The oldest version of Ray with token authentication."""

_STORE = "KubeRay refuses it: it would keep the cluster's state in Redis, and a cluster lives for one attempt"
_CLOSED = "KubeRay sets it, so that the cluster takes nobody without its token"
_REFUSED: Mapping[str, str] = MappingProxyType(
    {
        "RAY_REDIS_ADDRESS": _STORE,
        "REDIS_USERNAME": _STORE,
        "RAY_AUTH_MODE": _CLOSED,
        "RAY_AUTH_TOKEN": _CLOSED,
    }
)
_AUTOSCALER = "RAY_enable_autoscaler_v2"


def kuberay_problems(spec: TrainingJobSpec) -> Iterator[Problem]:
    """Yield a problem for each such value. Yields nothing for backends without KubeRay."""
    if spec.backend.with_kuberay.type != "ray":
        return
    if spec.ray_version is not None and not is_closed_by_token(spec.ray_version):
        yield Problem("rayVersion", f"{spec.ray_version} is too old: Ray asks for tokens from {_oldest()} on")
    for path, part in spec.pod_template.parts() if spec.pod_template else ():
        for position, variable in enumerate(part.env or []):
            why = _why_refused(variable)
            if why:
                yield Problem(f"{path}.env[{position}].name", f"remove {variable.name}: {why}")


def is_closed_by_token(version: str) -> bool:
    """Return True if this version of Ray, such as 2.52.0, has token authentication."""
    return tuple(int(part) for part in version.split(".")) >= OLDEST_RAY


def _oldest() -> str:
    return ".".join(map(str, OLDEST_RAY))


def _why_refused(variable: EnvironmentVariable) -> str | None:
    if variable.name == _AUTOSCALER and variable.value in ("1", "true"):
        return "KubeRay refuses it: the cluster has a fixed number of workers"
    return _REFUSED.get(variable.name)
