"""The resource requests and limits of containers.

CPUs are requests: the CPUs of a worker times the workers of the pod. There is no CPU limit, because a limit throttles
a process with many threads, even on an idle node; `podTemplate.resources.limits.cpu` can set one. Instead, an
environment variable tells every process how many CPUs to use (on Ray, the worker's resources do).
GPUs are limits, in whole numbers. Only `podTemplate.resources` sets requests and limits of memory.
In a namespace with a quota, the administrator's defaults set the limits.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from trainwright_api.resource.quantity import amount, is_extended
from trainwright_operator.children import overlay
from trainwright_operator.children.child_spec import ChildSpec


def of_stage(child_spec: ChildSpec) -> dict[str, Any]:
    """Return the resources of the container that does the work of the stage."""
    return of_preprocessing(child_spec) if child_spec.prepares else of_workers(child_spec)


def of_workers(child_spec: ChildSpec) -> dict[str, Any]:
    """Return the resources of the container with workers, `podTemplate` included."""
    sized = [child_spec.spec.gpu_resource_name] if child_spec.has_trainer or child_spec.gpus_per_pod else []
    return overlay.resources(_own(child_spec), child_spec.template("worker"), sized)


def of_preprocessing(child_spec: ChildSpec) -> dict[str, Any]:
    """Return the resources of a pod of the preprocess stage: the CPUs of a pod of workers, no devices of `podTemplate`.

    All devices are dropped and not only GPUs: network adapters are as scarce, and on the same nodes.
    """
    cpus = _cores(child_spec.cpus_per_pod)
    asked = overlay.resources({"requests": {"cpu": cpus} if cpus else {}}, child_spec.template("preprocess"), ())
    sides = [side for side in ("requests", "limits") if side in asked]
    kept = {side: {name: amount for name, amount in asked[side].items() if not is_extended(name)} for side in sides}
    return {side: amounts for side, amounts in kept.items() if amounts}


def cpus(child_spec: ChildSpec, resources: Mapping[str, Any]) -> int:
    """Return the CPUs that each process may use: its part of the pod's CPU limit, or else of the pod's CPU request."""
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
