"""The headless Service that gives the pods of a gang their DNS names."""

from __future__ import annotations

from trainwright_operator.children.child_spec import ChildSpec
from trainwright_operator.children.identity import support_metadata
from trainwright_operator.model.observed import Manifest

RENDEZVOUS_PORT = 29500
"""The port on which pod 0 listens for the others."""


def service(child_spec: ChildSpec) -> Manifest:
    """Return the Service. DNS names resolve before pods are ready, because pods need them for the rendezvous."""
    return {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": support_metadata(child_spec),
        "spec": {
            "clusterIP": "None",
            "publishNotReadyAddresses": True,
            "selector": dict(child_spec.common_labels),
            "ports": [{"name": "rendezvous", "port": RENDEZVOUS_PORT, "targetPort": RENDEZVOUS_PORT}],
        },
    }


def master_address(child_spec: ChildSpec) -> str:
    """Return the address of the attempt's first pod, within its namespace."""
    return f"{child_spec.name}-0.{child_spec.common_name}"
