"""The operator's own pods, validated by a real API server in a namespace that enforces restricted pods.

Nothing is stored (dry run), because no kubelet runs here.
"""

from __future__ import annotations

import json
from typing import Any

import pytest
from testkit.cluster.cluster import Cluster
from testkit.control_plane.installed import objects

KINDS = ("Deployment", "Service", "PodDisruptionBudget")
DRY_RUN = ("create", "--dry-run=server", "--validate=strict", "-o=name", "-f=-")


@pytest.fixture
def home(cluster: Cluster, namespace: str) -> str:
    """A namespace with the labels and the service account of the operator's own."""
    [operators] = objects("namespace.yaml")
    labels = [f"{key}={value}" for key, value in operators["metadata"]["labels"].items()]
    cluster.kubectl("label", "namespace", namespace, *labels)
    cluster.kubectl("create", "serviceaccount", "trainwright-operator", f"-n={namespace}")
    return namespace


def deployed(namespace: str) -> list[dict[str, Any]]:
    found = objects("clusterwide.yaml", *KINDS)
    for one in found:
        one["metadata"]["namespace"] = namespace
    return found


def pod(namespace: str) -> dict[str, Any]:
    """The pod as the ReplicaSet controller creates it."""
    [template] = [one["spec"]["template"] for one in deployed(namespace) if one["kind"] == "Deployment"]
    metadata = {**template["metadata"], "name": "trainwright-operator-1", "namespace": namespace}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": template["spec"]}


def test_the_operators_objects_are_taken_without_a_warning(cluster: Cluster, home: str) -> None:
    items = [*deployed(home), pod(home)]
    tried = cluster.kubectl.run(*DRY_RUN, stdin=json.dumps({"apiVersion": "v1", "kind": "List", "items": items}))
    assert (tried.stderr, tried.returncode) == ("", 0)
    assert tried.stdout.split() == [
        "poddisruptionbudget.policy/trainwright-operator",
        "service/trainwright",
        "deployment.apps/trainwright-operator",
        "pod/trainwright-operator-1",
    ]


def test_a_pod_that_may_write_as_root_is_refused_there(cluster: Cluster, home: str) -> None:
    """Otherwise the test above could not fail."""
    loose = pod(home)
    loose["spec"]["securityContext"]["runAsNonRoot"] = False
    assert "violates PodSecurity" in cluster.kubectl.run(*DRY_RUN, stdin=json.dumps(loose)).stderr
