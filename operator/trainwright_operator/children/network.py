"""The NetworkPolicies of Ray clusters and gangs. A client of an open pod could run code in it or disturb the training.

Allowed ingress:
    from                      to            port   why
    pods of the same job      every pod     all    GCS, raylets, object transfer, rendezvous, gradients, the submitter
    KubeRay's operator        pods of ray   8265   reads the status of the Ray job from the dashboard
All other ingress is denied: from other pods, from other jobs, and from our own operator, which connects to no pod
(pods post to it). The kubelet's probes come from the pod's own node, which no NetworkPolicy blocks.
All egress is allowed: the operator's API, DNS, object storage, package indexes and anything the user's code needs.

A NetworkPolicy has an effect only if the cluster's network plug-in enforces it. Ray also has token authentication; the
rendezvous of a gang (torch, Gloo) has none.
"""

from __future__ import annotations

from typing import Any

from trainwright_operator.children.child_spec import ChildSpec
from trainwright_operator.children.identity import support_metadata
from trainwright_operator.model import names
from trainwright_operator.model.observed import Manifest

DASHBOARD_PORT = 8265
KUBERAY = {"app.kubernetes.io/component": "kuberay-operator"}
"""The label of KubeRay's pods that its chart and its manifests share. They can run in any namespace."""


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
