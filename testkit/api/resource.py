"""The resources of the API that the tests use, and times as Kubernetes writes them."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

Manifest = dict[str, Any]
"""A Kubernetes object as plain JSON."""


@dataclass(frozen=True)
class Resource:
    api_version: str
    plural: str
    kind: str
    namespaced: bool = True

    def path(self, namespace: str | None = None, name: str = "", subresource: str = "") -> str:
        """The path of one object or of all, in a namespace or in all namespaces."""
        root = "/api/v1" if self.api_version == "v1" else f"/apis/{self.api_version}"
        inside = f"/namespaces/{namespace}" if self.namespaced and namespace else ""
        tail = "".join(f"/{part}" for part in (name, subresource) if part)
        return f"{root}{inside}/{self.plural}{tail}"


TRAINING_JOBS = Resource("trainwright.dev/v1alpha1", "trainingjobs", "TrainingJob")
JOBS = Resource("batch/v1", "jobs", "Job")
RAY_JOBS = Resource("ray.io/v1", "rayjobs", "RayJob")
RAY_CLUSTERS = Resource("ray.io/v1", "rayclusters", "RayCluster")
PODS = Resource("v1", "pods", "Pod")
NODES = Resource("v1", "nodes", "Node", namespaced=False)
NAMESPACES = Resource("v1", "namespaces", "Namespace", namespaced=False)
CONFIG_MAPS = Resource("v1", "configmaps", "ConfigMap")
SECRETS = Resource("v1", "secrets", "Secret")
SERVICES = Resource("v1", "services", "Service")
NETWORK_POLICIES = Resource("networking.k8s.io/v1", "networkpolicies", "NetworkPolicy")
EVENTS = Resource("v1", "events", "Event")
LEASES = Resource("coordination.k8s.io/v1", "leases", "Lease")

CHILDREN = (JOBS, RAY_JOBS)
SHARED_KINDS = (CONFIG_MAPS, SECRETS, SERVICES, NETWORK_POLICIES)


def now() -> str:
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
