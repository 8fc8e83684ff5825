"""Who may connect to the pods of a Ray cluster or a gang. Whoever reaches an open one runs code in it, or spoils it.

Allowed in:
    from                      to            port   why
    pods of the same job      every pod     all    GCS, raylets, object transfer, rendezvous, gradients, the submitter
    KubeRay's operator        pods of ray   8265   asks the dashboard how the Ray job goes
Everything else is denied: other pods, other jobs, and our own operator too, which connects to no pod (pods post to it).
The kubelet's probes come from the pod's own node, which no NetworkPolicy stops.
Out everything is open: the API of the operator, DNS, object storage, package indexes, what the user's code needs.

A NetworkPolicy acts only where the cluster's network plug-in enforces it. Ray's token authentication stands beside it;
the rendezvous of a gang (torch's, Gloo's) has no such thing.
"""

from __future__ import annotations

from typing import Any

from trainwright_operator.children.child_spec import ChildSpec
from trainwright_operator.children.identity import support_metadata
from trainwright_operator.model import names
from trainwright_operator.model.observed import Manifest

DASHBOARD_PORT = 8265
KUBERAY = {"app.kubernetes.io/component": "kuberay-operator"}
"""The label of KubeRay's pods that its chart and its manifests have in common. Their namespace may be any."""


def gang_policy(child_spec: ChildSpec) -> Manifest:
    return _policy(child_spec)


def ray_policy(child_spec: ChildSpec) -> Manifest:
    return _policy(child_spec, _from_kuberay())


def _policy(child_spec: ChildSpec, *more: dict[str, Any]) -> Manifest:
    own = {"matchLabels": {names.JOB_UID: child_spec.job.uid}}
    return {
        "apiVersion": "networking.k8s.io/v1",
        "kind": "NetworkPolicy",
        "metadata": support_metadata(child_spec),
        "spec": {
            "podSelector": own,
            "policyTypes": ["Ingress"],
            "ingress": [{"from": [{"podSelector": own}]}, *more],
        },
    }


def _from_kuberay() -> dict[str, Any]:
    operator = {"namespaceSelector": {}, "podSelector": {"matchLabels": dict(KUBERAY)}}
    return {"from": [operator], "ports": [{"protocol": "TCP", "port": DASHBOARD_PORT}]}
