"""What containers reserve and may use.

CPUs are requests: the worker's share, times its workers. There is no CPU limit, because a limit throttles a process
that computes in many threads, even on an idle node; `podTemplate.resources.limits.cpu` sets one where it is wanted.
Instead every process is told how many CPUs it may compute with (on Ray a worker's resources say so).
GPUs are limits, whole ones. Memory is reserved and limited as `podTemplate.resources` says, and by nothing else.
Head and submitter are small, whatever the workers are.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from trainwright_operator.children import overlay
from trainwright_operator.children.child_spec import ChildSpec
from trainwright_operator.model.quantities import amount

HEAD: Mapping[str, Any] = MappingProxyType({"requests": {"cpu": "250m", "memory": "1Gi"}})
"""It trains nothing: GCS, dashboard, and the driver, which may use what is idle."""
SUBMITTER: Mapping[str, Any] = MappingProxyType(
    {"requests": {"cpu": "100m", "memory": "256Mi"}, "limits": {"memory": "1Gi"}}
)
"""It follows a log. KubeRay's own default reserves 500m CPU for that."""


def of_workers(child_spec: ChildSpec) -> dict[str, Any]:
    """Of the container with workers, the overlay included."""
    sized = [child_spec.spec.gpu_resource_name] if child_spec.has_trainer or child_spec.gpus_per_pod else []
    return overlay.resources(_own(child_spec), child_spec.pod_template, sized)


def of_preprocessing(child_spec: ChildSpec) -> dict[str, Any]:
    """Of the phase before training: the CPUs of a pod of workers, and none of the devices that the overlay asks for.

    Not the GPUs alone: network adapters and the like are as scarce, and lie on the same nodes.
    """
    cpus = _cores(child_spec.cpus_per_pod)
    asked = overlay.resources({"requests": {"cpu": cpus} if cpus else {}}, child_spec.pod_template, ())
    kept = {side: {name: amount for name, amount in asked[side].items() if "/" not in name} for side in asked}
    return {side: amounts for side, amounts in kept.items() if amounts}


def cpus(child_spec: ChildSpec, resources: Mapping[str, Any]) -> int:
    """CPUs that each process may compute with: its part of those that its pod has for sure."""
    limit = amount(resources.get("limits", {}).get("cpu", 0))
    found = limit or amount(resources.get("requests", {}).get("cpu", 0))
    return max(1, math.ceil(found / (1 if child_spec.prepares else child_spec.workers_per_pod)))


def _own(child_spec: ChildSpec) -> dict[str, Any]:
    cpus, gpus = _cores(child_spec.cpus_per_pod), child_spec.gpus_per_pod
    return {
        "requests": {"cpu": cpus} if cpus else {},
        "limits": {child_spec.spec.gpu_resource_name: str(gpus)} if gpus else {},
    }


def _cores(cpus: float) -> str:
    milli = math.ceil(round(cpus * 1000, 3))
    if milli % 1000:
        return f"{milli}m"
    return str(milli // 1000) if milli else ""
