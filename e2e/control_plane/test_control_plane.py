"""The control plane is a real one: garbage collection, deletion, tokens and RBAC work."""

from __future__ import annotations

import json

import pytest
from testkit.cluster.cluster import Cluster
from testkit.cluster.errors import ClusterError

pytestmark = pytest.mark.slow  # it tests the testkit, which every other test uses

DEFINITIONS = {"trainingjobs.trainwright.dev", "rayclusters.ray.io", "rayjobs.ray.io"}
RESTRICTED = {"pod-security.kubernetes.io/enforce": "restricted"}
POD = {
    "apiVersion": "v1",
    "kind": "Pod",
    "metadata": {"name": "pod"},
    "spec": {"containers": [{"name": "main", "image": "none"}]},
}


def config_map(name: str, **metadata: object) -> str:
    return json.dumps({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name, **metadata}})


def test_the_definitions_are_established_and_structural(cluster: Cluster) -> None:
    found = json.loads(cluster.kubectl("get", "customresourcedefinitions", "-o", "json"))["items"]
    true = {
        item["metadata"]["name"]: {each["type"] for each in item["status"]["conditions"] if each["status"] == "True"}
        for item in found
    }
    assert {name: true.get(name) for name in DEFINITIONS} == {
        name: {"NamesAccepted", "Established"} for name in DEFINITIONS
    }


def test_what_is_owned_is_collected_with_its_owner(cluster: Cluster, namespace: str) -> None:
    cluster.kubectl("create", f"-n={namespace}", "-f=-", stdin=config_map("owner"))
    uid = cluster.kubectl("get", f"-n={namespace}", "configmap/owner", "-o=jsonpath={.metadata.uid}")
    owner = {"apiVersion": "v1", "kind": "ConfigMap", "name": "owner", "uid": uid}
    cluster.kubectl("create", f"-n={namespace}", "-f=-", stdin=config_map("owned", ownerReferences=[owner]))
    cluster.kubectl("delete", f"-n={namespace}", "configmap/owner")
    cluster.kubectl("wait", f"-n={namespace}", "--for=delete", "configmap/owned", "--timeout=60s")


def test_a_namespace_goes_with_all_that_is_in_it(cluster: Cluster, namespace: str) -> None:
    cluster.kubectl("create", f"-n={namespace}", "-f=-", stdin=config_map("inside"))
    cluster.kubectl("delete", "namespace", namespace, "--timeout=60s")
    assert cluster.kubectl("get", "namespace", namespace, "--ignore-not-found") == ""


def test_a_token_is_reviewed_for_its_audience_only(cluster: Cluster, namespace: str) -> None:
    token = cluster.token(namespace, "default", audience="trainwright")

    def reviewed(audience: str) -> str:
        asked = {"token": token, "audiences": [audience]}
        review = {"apiVersion": "authentication.k8s.io/v1", "kind": "TokenReview", "spec": asked}
        return cluster.kubectl("create", "-f=-", "-o=jsonpath={.status.user.username}", stdin=json.dumps(review))

    assert reviewed("trainwright") == f"system:serviceaccount:{namespace}:default"
    assert reviewed("others") == ""


def test_rights_are_of_users_and_service_accounts(cluster: Cluster, namespace: str) -> None:
    account = cluster.as_service_account(namespace, "default")
    with pytest.raises(ClusterError, match=f'"system:serviceaccount:{namespace}:default" cannot list'):
        account.kubectl("get", "configmaps", f"-n={namespace}")
    cluster.kubectl(
        "create", "rolebinding", "all", f"-n={namespace}", "--clusterrole=view", f"--serviceaccount={namespace}:default"
    )
    assert "kube-root-ca.crt" in account.kubectl("get", "configmaps", f"-n={namespace}", "-o=name")


def test_pod_security_is_enforced_where_a_namespace_asks_for_it(cluster: Cluster, namespace: str) -> None:
    cluster.kubectl("label", "namespace", namespace, *(f"{key}={value}" for key, value in RESTRICTED.items()))
    with pytest.raises(ClusterError, match="violates PodSecurity"):
        cluster.kubectl("create", f"-n={namespace}", "-f=-", stdin=json.dumps(POD))
