"""The objects of Kueue that tests create: what all teams share, and the queue of a team with its quota."""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from typing import Any

Manifest = dict[str, Any]

VERSION = "kueue.x-k8s.io/v1beta2"
QUEUE = "gpus"
LABEL = "kueue.x-k8s.io/queue-name"
FLAVOR = "any"
HIGH = "high"
PRIORITY = "kueue.x-k8s.io/priority-class"
GPU = "nvidia.com/gpu"
PLENTY = {"cpu": "100", "memory": "100Gi", GPU: "100"}
NO_LIMIT: Mapping[str, str] = {}


def flavor() -> Manifest:
    return {"apiVersion": VERSION, "kind": "ResourceFlavor", "metadata": {"name": FLAVOR}}


def priority() -> Manifest:
    """The class of urgent jobs. Without a class, the priority of a job is 0."""
    return {"apiVersion": VERSION, "kind": "WorkloadPriorityClass", "metadata": {"name": HIGH}, "value": 1000}


def cluster_queue(namespace: str, quota: Mapping[str, str]) -> Manifest:
    """The queue of one namespace, with its name. What `quota` does not name is plentiful."""
    spec = {
        "namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": namespace}},
        "preemption": {"withinClusterQueue": "LowerPriority"},
        "resourceGroups": groups(quota),
    }
    return {"apiVersion": VERSION, "kind": "ClusterQueue", "metadata": {"name": namespace}, "spec": spec}


def local_queue(namespace: str) -> Manifest:
    """The queue that jobs name."""
    metadata = {"name": QUEUE, "namespace": namespace}
    return {"apiVersion": VERSION, "kind": "LocalQueue", "metadata": metadata, "spec": {"clusterQueue": namespace}}


def groups(quota: Mapping[str, str]) -> Sequence[Manifest]:
    """The field `resourceGroups` of a ClusterQueue."""
    amounts = {**PLENTY, **quota}
    resources = [{"name": name, "nominalQuota": amount} for name, amount in amounts.items()]
    return [{"coveredResources": list(amounts), "flavors": [{"name": FLAVOR, "resources": resources}]}]


def resources_of(workload: Mapping[str, Any]) -> Set[str]:
    """The names of the resources that the pods of a Workload ask for."""
    pods = [one["template"]["spec"] for one in workload["spec"]["podSets"]]
    asked = [container["resources"] for pod in pods for container in pod["containers"]]
    return {name for each in asked for side in ("requests", "limits") for name in each.get(side, ())}
