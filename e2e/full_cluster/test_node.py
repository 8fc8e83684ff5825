"""The node of the full cluster: pods run, resolve names of Services, and reach S3 and the API server."""

from __future__ import annotations

import json
from typing import Any

import pytest
from testkit.full_cluster import restricted
from testkit.full_cluster.bucket import Bucket
from testkit.full_cluster.full_cluster import FullCluster

OPERATOR = "trainwright-operator"
SERVE = ("python", "-m", "http.server", "--directory=/tmp", "8080")
FETCH = "import sys, urllib.request as web; print(web.urlopen(sys.argv[1], timeout=20).status)"
# Any HTTP status is enough: a client without a token gets 401 or 403.
ASK_API_SERVER = """
import ssl, urllib.error, urllib.request as web
trust = ssl.create_default_context(cafile="/var/run/secrets/kubernetes.io/serviceaccount/ca.crt")
try:
    web.urlopen("https://kubernetes.default.svc/api", context=trust, timeout=20)
except urllib.error.HTTPError as refused:
    print(refused.code)
"""


def apply(full_cluster: FullCluster, namespace: str, *objects: dict[str, Any]) -> None:
    wanted = {"apiVersion": "v1", "kind": "List", "items": list(objects)}
    full_cluster.kubectl("apply", f"-n={namespace}", "-f", "-", stdin=json.dumps(wanted))


def output_of(full_cluster: FullCluster, namespace: str, name: str, *command: str) -> str:
    """Run the command in a pod, and return its output."""
    apply(full_cluster, namespace, restricted.pod(name, full_cluster.image(OPERATOR), command))
    ended = "--for=jsonpath={.status.containerStatuses[0].state.terminated.reason}"
    full_cluster.kubectl("wait", f"-n={namespace}", f"pod/{name}", ended, "--timeout=60s")
    return full_cluster.kubectl("logs", f"-n={namespace}", name).strip()


def test_a_pod_finds_another_by_the_name_of_its_service(full_cluster: FullCluster, namespace: str) -> None:
    labels = {"app": "server"}
    server = restricted.pod("server", full_cluster.image(OPERATOR), SERVE, labels)
    service = {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": {"name": "web"},
        "spec": {"selector": labels, "ports": [{"port": 80, "targetPort": 8080}]},
    }
    apply(full_cluster, namespace, server, service)
    full_cluster.kubectl("wait", f"-n={namespace}", "pod/server", "--for=condition=Ready", "--timeout=60s")
    assert output_of(full_cluster, namespace, "client", "python", "-c", FETCH, f"http://web.{namespace}") == "200"


def test_a_pod_reaches_the_api_server_by_its_name(full_cluster: FullCluster, namespace: str) -> None:
    assert output_of(full_cluster, namespace, "client", "python", "-c", ASK_API_SERVER) in {"401", "403"}


def test_a_pod_reaches_s3_where_this_machine_does(full_cluster: FullCluster, namespace: str, bucket: Bucket) -> None:
    bucket.client.put_object(Bucket=bucket.name, Key="greeting", Body=b"hello")
    url = bucket.client.generate_presigned_url("get_object", Params={"Bucket": bucket.name, "Key": "greeting"})
    assert output_of(full_cluster, namespace, "client", "python", "-c", FETCH, url) == "200"


def test_a_pod_that_is_not_restricted_is_refused(full_cluster: FullCluster, namespace: str) -> None:
    loose = restricted.pod("loose", full_cluster.image(OPERATOR), ["true"])
    del loose["spec"]["securityContext"]["seccompProfile"]
    refused = full_cluster.kubectl.run("apply", f"-n={namespace}", "-f", "-", stdin=json.dumps(loose))
    assert refused.returncode != 0
    assert "violates PodSecurity" in refused.stderr


@pytest.mark.parametrize("name", ["rayjobs.ray.io", "rayclusters.ray.io"])
def test_kuberay_is_there(full_cluster: FullCluster, name: str) -> None:
    full_cluster.kubectl("wait", f"crd/{name}", "--for=condition=Established", "--timeout=10s")
