"""The amount of a resource that the pods of a cluster request, by node."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from typing import Any

from trainwright_operator.model.observed import Manifest
from trainwright_operator.model.reading import amount

ON_A_NODE = "spec.nodeName!=,status.phase!=Succeeded,status.phase!=Failed"
"""The field selector of pods that occupy a node."""


def by_node(pods: Iterable[Manifest], resource: str) -> Mapping[str, float]:
    found: defaultdict[str, float] = defaultdict(float)
    for pod in pods:
        asked = _asked(pod.get("spec") or {}, resource)
        if asked:
            found[pod["spec"]["nodeName"]] += asked
    return dict(found)


def _asked(spec: Mapping[str, Any], resource: str) -> float:
    """Count as the scheduler does: the sum of concurrent containers, or the largest init container that runs alone."""
    before = spec.get("initContainers") or ()
    aside = [container for container in before if container.get("restartPolicy") == "Always"]
    alone = [_requests(container, resource) for container in before if container not in aside]
    together = sum(_requests(container, resource) for container in [*(spec.get("containers") or ()), *aside])
    return max([together, *alone])


def _requests(container: Mapping[str, Any], resource: str) -> float:
    quantity = ((container.get("resources") or {}).get("requests") or {}).get(resource)
    return 0.0 if quantity is None else amount(quantity)
