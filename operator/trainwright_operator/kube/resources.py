"""The resources of the Kubernetes API that the operator uses, and their paths."""

from __future__ import annotations

from dataclasses import dataclass
from urllib.parse import quote


@dataclass(frozen=True)
class Resource:
    """One resource in one API version."""

    kind: str
    group: str
    version: str
    plural: str
    namespaced: bool = True

    @property
    def api_version(self) -> str:
        return f"{self.group}/{self.version}" if self.group else self.version

    def path(self, namespace: str | None = None, name: str | None = None, subresource: str | None = None) -> str:
        """Return the path. Without a namespace it covers the whole cluster; without a name, the collection."""
        parts = ["apis", self.group, self.version] if self.group else ["api", self.version]
        if namespace and self.namespaced:
            parts += ["namespaces", namespace]
        parts += [self.plural, *(part for part in (name, subresource) if part)]
        return "/" + "/".join(quote(part, safe="") for part in parts)


TRAINING_JOBS = Resource("TrainingJob", "trainwright.dev", "v1alpha1", "trainingjobs")
JOBS = Resource("Job", "batch", "v1", "jobs")
RAY_JOBS = Resource("RayJob", "ray.io", "v1", "rayjobs")
RAY_CLUSTERS = Resource("RayCluster", "ray.io", "v1", "rayclusters")
PODS = Resource("Pod", "", "v1", "pods")
NODES = Resource("Node", "", "v1", "nodes", namespaced=False)
CONFIG_MAPS = Resource("ConfigMap", "", "v1", "configmaps")
SECRETS = Resource("Secret", "", "v1", "secrets")
SERVICES = Resource("Service", "", "v1", "services")
NETWORK_POLICIES = Resource("NetworkPolicy", "networking.k8s.io", "v1", "networkpolicies")
EVENTS = Resource("Event", "events.k8s.io", "v1", "events")
WORKLOADS = Resource("Workload", "kueue.x-k8s.io", "v1beta2", "workloads")
"""Kueue's, from its version 0.15 on."""
LEASES = Resource("Lease", "coordination.k8s.io", "v1", "leases")
TOKEN_REVIEWS = Resource("TokenReview", "authentication.k8s.io", "v1", "tokenreviews", namespaced=False)
WEBHOOKS = Resource(
    "ValidatingWebhookConfiguration",
    "admissionregistration.k8s.io",
    "v1",
    "validatingwebhookconfigurations",
    namespaced=False,
)

ALL = (
    TRAINING_JOBS,
    JOBS,
    RAY_JOBS,
    RAY_CLUSTERS,
    PODS,
    NODES,
    CONFIG_MAPS,
    SECRETS,
    SERVICES,
    NETWORK_POLICIES,
    EVENTS,
    WORKLOADS,
    LEASES,
    TOKEN_REVIEWS,
    WEBHOOKS,
)
_BY_KIND = {resource.kind: resource for resource in ALL}


def of_kind(kind: str) -> Resource:
    """Return the resource of a manifest's `kind`. Raises KeyError for a kind that the operator does not use."""
    return _BY_KIND[kind]


def shown(path: str) -> str:
    """Return the resource of a path for metrics and messages, such as `trainingjobs/status`."""
    parts = path.strip("/").split("/")
    rest = parts[2:] if parts[0] == "api" else parts[3:]
    if rest[:1] == ["namespaces"] and len(rest) > 2:
        rest = rest[2:]
    return "/".join(rest[:1] + rest[2:3]) or path
