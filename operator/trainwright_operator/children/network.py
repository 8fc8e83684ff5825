"""Who may connect to the pods of a Ray cluster. Whoever reaches an open Ray cluster runs code in it.

Allowed in:
    from                      to            port   why
    pods of the same job      every pod     all    GCS, raylets, object transfer, gradients, the submitter's dashboard
    KubeRay's operator        every pod     8265   asks the dashboard how the Ray job goes
Everything else is denied: other pods, other jobs, and our own operator too, which connects to no pod (pods post to it).
The kubelet's probes come from the pod's own node, which no NetworkPolicy stops.
Out everything is open: the API of the operator, DNS, object storage, package indexes, what the user's code needs.

A NetworkPolicy acts only where the cluster's network plug-in enforces it. Ray's token authentication stands beside it.
"""

from __future__ import annotations

from typing import Any

from trainwright_operator import names
from trainwright_operator.children.blueprint import Blueprint
from trainwright_operator.children.identity import support_metadata
from trainwright_operator.observed import Manifest

DASHBOARD_PORT = 8265
KUBERAY = {"app.kubernetes.io/component": "kuberay-operator"}
"""The label of KubeRay's pods that its chart and its manifests have in common. Their namespace may be any."""


def network_policy(blueprint: Blueprint) -> Manifest:
    own = {"matchLabels": {names.JOB_UID: blueprint.job.uid}}
    return {
        "apiVersion": "networking.k8s.io/v1",
        "kind": "NetworkPolicy",
        "metadata": support_metadata(blueprint),
        "spec": {
            "podSelector": own,
            "policyTypes": ["Ingress"],
            "ingress": [{"from": [{"podSelector": own}]}, _from_kuberay()],
        },
    }


def _from_kuberay() -> dict[str, Any]:
    operator = {"namespaceSelector": {}, "podSelector": {"matchLabels": dict(KUBERAY)}}
    return {"from": [operator], "ports": [{"protocol": "TCP", "port": DASHBOARD_PORT}]}
