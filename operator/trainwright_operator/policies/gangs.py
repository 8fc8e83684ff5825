"""Says which pods of a job form a gang: they can only work all together, and a part of them holds nodes in vain."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from trainwright_api.resource.backend import DEFAULT_PROCESSOR
from trainwright_api.resource.stages import backend_of_pods, comes_before
from trainwright_operator.children import kind_for
from trainwright_operator.model.reading import mapping, number, text
from trainwright_operator.policies.backend import backend_of


def worker_pods(resolved: Mapping[str, Any]) -> int:
    """Return the number of pods with workers, from `status.resolved` as plain data."""
    workers, together = number(resolved.get("workers")) or 1, number(resolved.get("workersPerPod")) or 1
    return math.ceil(workers / together)


def is_gang(spec: Mapping[str, Any], resolved: Mapping[str, Any], stage: str | None) -> bool:
    """Return True if the stage of a stored job has several pods. A single pod holds nothing while it waits.

    A RayJob has a head besides its workers.
    """
    task = text(spec.get("task")) or "train"
    prepares = comes_before(stage, task)
    processor = text(mapping(spec, "backend", "processor").get("type")) or DEFAULT_PROCESSOR
    backend = backend_of_pods(task, backend_of(spec, resolved))
    kind = kind_for(backend, processor=processor if prepares else None)
    return kind is kind_for("ray") or (not prepares and worker_pods(resolved) > 1)
