"""Counts the GPUs that the pods of a job hold: those of its workers, and those that `podTemplate` asks for besides."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from typing import Any

from trainwright_api.resource.backend import BACKENDS
from trainwright_api.resource.quantity import amount
from trainwright_operator.children.overlay import Role
from trainwright_operator.model.reading import mapping, mappings, number, text
from trainwright_operator.policies.backend import backend_of
from trainwright_operator.policies.gangs import worker_pods

_BESIDE: tuple[Role, ...] = ("head", "submitter")
DEFAULT_NAME = "nvidia.com/gpu"
_GPU = re.compile(r"gpu$|/mig-", re.IGNORECASE)
"""The resource names of GPUs: nvidia.com/gpu, amd.com/gpu, nvidia.com/mig-1g.5gb."""


def held(spec: Mapping[str, Any], resolved: Mapping[str, Any]) -> int:
    """Return the GPUs of all pods of a job. `spec` and `resolved` are plain data, in Kubernetes' spelling.

    A backend with `backend.trainer` sizes `gpuResourceName` of its workers itself, and ignores it in `podTemplate`. The
    preprocess stage asks for no devices.
    """
    backend = BACKENDS.get(backend_of(spec, resolved))
    gangs = backend is not None and backend.sizes_workers
    sized = text(spec.get("gpuResourceName")) or DEFAULT_NAME
    template = mapping(spec, "podTemplate")
    of_a_pod = _of_pod(template, "worker", sized, ignored=sized if gangs else "")
    others = [_of_pod(template, role, sized) for role in _BESIDE] if gangs else []
    return (number(resolved.get("gpus")) or 0) + worker_pods(resolved) * of_a_pod + sum(others)


def reserved(workers: int, together: int, share: float) -> int:
    """Return the GPUs of the pods of `workers`, each with `share` of one, and with `together` of them in a pod.

    A pod has whole GPUs. The last pod, which may have fewer workers, has as many as the others.
    """
    return math.ceil(workers / together) * whole(together * share)


def workers_within(gpus: float, share: float, together: int | str) -> int:
    """Return the most workers whose pods reserve at most `gpus`. `together`: the workers in a pod, or auto."""
    if not isinstance(together, int):
        return math.floor(gpus / share + 1e-9)
    return math.floor(gpus / whole(together * share)) * together


def whole(gpus: float) -> int:
    return math.ceil(gpus - 1e-9)


def _of_pod(template: Mapping[str, Any], role: Role, sized: str, ignored: str = "") -> int:
    """Return the GPUs that `podTemplate` asks for in one pod, in its container and in those that run first.

    It may be part of a spec that is invalid by now.
    """
    part = mapping(template, role)
    shared = mapping(template, "resources") if role == "worker" else {}
    sides = ("requests", "limits")
    merged = {side: {**mapping(shared, side), **mapping(part, "resources", side)} for side in sides}
    inherited = mappings(template.get("initContainers")) if role != "submitter" else ()
    first = {text(one.get("name")): one for one in (*inherited, *mappings(part.get("initContainers")))}
    before = sum(_of_container(mapping(one, "resources"), sized) for one in first.values())
    return _of_container(merged, sized, ignored) + before


def _of_container(resources: Mapping[str, Any], sized: str, ignored: str = "") -> int:
    amounts: dict[str, float] = {}
    for side in ("requests", "limits"):
        for name, quantity in mapping(resources, side).items():
            if name != ignored and (name == sized or _GPU.search(name)):
                amounts[name] = max(amounts.get(name, 0.0), amount(quantity))
    return math.ceil(sum(amounts.values()))
