"""The headless Service by which the pods of a gang find each other's names."""

from __future__ import annotations

from trainwright_operator.children.child_spec import ChildSpec
from trainwright_operator.children.identity import support_metadata
from trainwright_operator.model.observed import Manifest

RENDEZVOUS_PORT = 29500
"""Where pod 0 listens for the others."""


def service(blueprint: ChildSpec) -> Manifest:
    """Names resolve before pods are ready: they become ready by meeting."""
    return {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": support_metadata(blueprint),
        "spec": {
            "clusterIP": "None",
            "publishNotReadyAddresses": True,
            "selector": dict(blueprint.common_labels),
            "ports": [{"name": "rendezvous", "port": RENDEZVOUS_PORT, "targetPort": RENDEZVOUS_PORT}],
        },
    }


def master_address(blueprint: ChildSpec) -> str:
    """Of the first pod of this attempt, within its namespace."""
    return f"{blueprint.name}-0.{blueprint.common_name}"
