"""A test's own control plane: beside another one, with invented users, an audit log, and stops of the API server."""

from __future__ import annotations

import asyncio
import json

import pytest
from testkit.cluster import binaries
from testkit.cluster.cluster import Cluster
from testkit.cluster.errors import ClusterError

pytestmark = pytest.mark.slow  # it tests the testkit, which every other test uses


def test_client_and_server_are_of_the_pinned_version(exclusive_cluster_of_module: Cluster) -> None:
    output = json.loads(exclusive_cluster_of_module.kubectl("version", "-o", "json"))
    assert {output[side]["gitVersion"] for side in ("clientVersion", "serverVersion")} == {
        binaries.kubernetes_version()
    }
    assert (output["serverVersion"]["major"], output["serverVersion"]["minor"]) == ("1", "34")


def test_two_stand_side_by_side(cluster: Cluster, exclusive_cluster_of_module: Cluster) -> None:
    other = exclusive_cluster_of_module
    assert cluster.server != other.server
    other.kubectl("create", "namespace", "only-here")
    assert cluster.kubectl("get", "namespace", "only-here", "--ignore-not-found") == ""


def test_users_have_the_rights_of_their_groups(exclusive_cluster_of_module: Cluster) -> None:
    cluster = exclusive_cluster_of_module
    cluster.kubectl("create", "clusterrolebinding", "readers", "--clusterrole=view", "--group=readers")
    with pytest.raises(ClusterError, match='User "somebody" cannot list'):
        cluster.as_user("somebody").kubectl("get", "configmaps")
    assert cluster.as_user("somebody", ["readers"]).kubectl("get", "configmaps", "-o=name") != ""


def test_every_request_is_in_the_audit_log(exclusive_cluster_of_module: Cluster) -> None:
    cluster = exclusive_cluster_of_module
    with pytest.raises(ClusterError, match="Forbidden"):
        cluster.as_user("nobody", ["nothing"]).kubectl("get", "--raw", "/api/v1/namespaces/default/secrets/some")
    cluster.token("default", "default", audience="trainwright")
    logged = {(e.user, e.verb, e.resource, e.subresource, e.name, e.code) for e in cluster.audit_events()}
    assert {
        ("nobody", "get", "secrets", "", "some", 403),
        ("admin", "create", "serviceaccounts", "token", "default", 201),
    } <= logged
    assert {e.decision for e in cluster.audit_events() if e.user == "nobody"} == {"forbid"}


@pytest.mark.parametrize("kill", [False, True], ids=["stopped", "killed"])
def test_the_api_server_comes_back_with_what_it_stored(exclusive_cluster_of_module: Cluster, kill: bool) -> None:
    cluster = exclusive_cluster_of_module
    name = f"kept-{kill}".lower()
    cluster.kubectl("create", "configmap", name)
    cluster.stop_api_server(kill=kill)
    with pytest.raises(ClusterError, match="refused"):
        cluster.kubectl("get", "configmap", name)
    cluster.start_api_server()
    assert cluster.kubectl("get", "configmap", name, "-o=name") == f"configmap/{name}\n"


def test_an_asyncio_program_may_restart_it(exclusive_cluster_of_module: Cluster) -> None:
    """The thread that restarts it ends with the program's event loop."""
    asyncio.run(asyncio.to_thread(exclusive_cluster_of_module.restart_api_server))
    assert exclusive_cluster_of_module.kubectl("get", "--raw", "/readyz") == "ok"


def test_a_cluster_that_others_use_is_not_stopped(cluster: Cluster) -> None:
    with pytest.raises(ClusterError, match=r"^this test stops the API server"):
        cluster.stop_api_server()
    assert cluster.kubectl("get", "--raw", "/readyz") == "ok"
