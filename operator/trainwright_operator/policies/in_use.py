"""Counts what the pods on each node request, by the job that they belong to."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from typing import Any

from trainwright_api.resource.quantity import amount
from trainwright_operator.model.names import JOB_UID
from trainwright_operator.model.observed import Amounts, Manifest
from trainwright_operator.model.reading import mapping, text

ON_A_NODE = "spec.nodeName!=,status.phase!=Succeeded,status.phase!=Failed"
"""The field selector of pods that occupy a node."""
PODS = "pods"
"""The resource of which each pod takes one: the places for pods on a node."""
Owner = tuple[str, str]
"""The namespace and the uid of a job. The uid is empty for pods of no job."""
Sums = defaultdict[str, float]


class InUse:
    """The requests of all pods on nodes."""

    def __init__(self) -> None:
        self._amounts: defaultdict[Owner, defaultdict[str, Sums]] = defaultdict(_by_node)

    def add(self, pods: Iterable[Manifest]) -> None:
        for pod in pods:
            metadata, spec = mapping(pod, "metadata"), mapping(pod, "spec")
            owner = (text(metadata.get("namespace")), text(mapping(metadata, "labels").get(JOB_UID)))
            plus(self._amounts[owner][text(spec.get("nodeName"))], requests_of_pod(spec))

    def of_others(self, namespace: str, uid: str) -> Mapping[str, Amounts]:
        """Return the amounts by node that pods request which are none of this job's."""
        found = _by_node()
        for owner, nodes in self._amounts.items():
            if owner != (namespace, uid):
                for node, amounts in nodes.items():
                    plus(found[node], amounts)
        return found


def requests_of_pod(spec: Mapping[str, Any]) -> Amounts:
    """Count as the scheduler does: the sum of concurrent containers, or the largest init container that runs alone."""
    before = spec.get("initContainers") or ()
    alone = [container for container in before if container.get("restartPolicy") != "Always"]
    found = sums()
    for container in (*(spec.get("containers") or ()), *before):
        if container not in alone:
            plus(found, requests_of(mapping(container, "resources")))
    for container in alone:
        for name, asked in requests_of(mapping(container, "resources")).items():
            found[name] = max(found[name], asked)
    found[PODS] = 1.0
    return found


def requests_of(resources: Mapping[str, Any]) -> Amounts:
    """Return the requests of a container. A limit without a request is also a request."""
    asked = {**mapping(resources, "limits"), **mapping(resources, "requests")}
    return {name: amount(quantity) for name, quantity in asked.items()}


def sums() -> Sums:
    return defaultdict(float)


def plus(found: Sums, more: Amounts) -> None:
    """Add the amounts to `found`, which changes."""
    for name, amount_of_it in more.items():
        found[name] += amount_of_it


def _by_node() -> defaultdict[str, Sums]:
    return defaultdict(sums)
