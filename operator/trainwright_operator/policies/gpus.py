"""Counts the GPUs that the pods of a job hold: those of its workers, and those that `podTemplate` asks for besides."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from typing import Any

from trainwright_api.resource.backend import BACKENDS
from trainwright_operator.model.reading import amount, mapping, number, text

DEFAULT_NAME = "nvidia.com/gpu"
_GPU = re.compile(r"gpu$|/mig-", re.IGNORECASE)
"""The resource names of GPUs: nvidia.com/gpu, amd.com/gpu, nvidia.com/mig-1g.5gb."""


def held(spec: Mapping[str, Any], resolved: Mapping[str, Any]) -> int:
    """Return the GPUs of all pods of a job. `spec` and `resolved` are plain data, in Kubernetes' spelling."""
    workers, together = number(resolved.get("workers")) or 1, number(resolved.get("workersPerPod")) or 1
    counted = number(resolved.get("gpus")) or 0
    return counted + math.ceil(workers / together) * beside(spec)


def beside(spec: Mapping[str, Any]) -> int:
    """Return the GPUs that `podTemplate.resources` adds to each pod of workers.

    A backend with `backend.trainer` sizes `gpuResourceName` itself, and ignores it there.
    """
    backend = BACKENDS.get(text(mapping(spec, "backend").get("type")) or "local")
    sized = text(spec.get("gpuResourceName")) or DEFAULT_NAME
    given = mapping(spec, "podTemplate", "resources")
    amounts: dict[str, float] = {}
    for side in ("requests", "limits"):
        for name, quantity in mapping(given, side).items():
            is_sized = name == sized and backend is not None and backend.sizes_workers
            if not is_sized and (name == sized or _GPU.search(name)):
                amounts[name] = max(amounts.get(name, 0.0), amount(quantity))
    return math.ceil(sum(amounts.values()))
