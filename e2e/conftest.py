"""The clusters that tests run on. Tests that share one keep apart by namespaces."""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterator
from pathlib import Path

import pytest
from testkit.cluster import shared
from testkit.cluster.cluster import Cluster
from testkit.cluster.control_plane import ControlPlane
from testkit.cluster.errors import ClusterError

NEEDS_ITS_OWN = (
    "this test stops the API server or reads its audit log: it needs a control plane of its own, so unset KUBECONFIG"
)


@pytest.fixture(scope="session")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Cluster:
    """The one cluster of this run: that of KUBECONFIG, else a control plane that all workers share."""
    folder = tmp_path_factory.getbasetemp()
    try:
        other = Cluster.from_environment(folder)
        return other or _shared(folder)
    except ClusterError as problem:
        pytest.fail(str(problem), pytrace=False)


@pytest.fixture
def namespace(cluster: Cluster) -> Iterator[str]:
    """A fresh namespace that pods can be made in, deleted after the test without waiting for its end."""
    name = f"test-{secrets.token_hex(4)}"
    cluster.kubectl("create", "namespace", name)
    cluster.kubectl("wait", f"-n={name}", "--for=create", "serviceaccount/default", "--timeout=60s")
    yield name
    cluster.kubectl("delete", "namespace", name, "--wait=false", "--ignore-not-found")


@pytest.fixture
def exclusive_cluster() -> Iterator[Cluster]:
    """A control plane for this test alone, which may stop its API server and read its audit log."""
    if os.environ.get("KUBECONFIG"):
        pytest.fail(NEEDS_ITS_OWN, pytrace=False)
    with ControlPlane() as plane:
        yield Cluster.of(plane)


@pytest.fixture(scope="module")
def exclusive_cluster_of_module() -> Iterator[Cluster]:
    """The same for the tests of one module; each pytest worker that runs some of them has one."""
    if os.environ.get("KUBECONFIG"):
        pytest.fail(NEEDS_ITS_OWN, pytrace=False)
    with ControlPlane() as plane:
        yield Cluster.of(plane)


def _shared(folder: Path) -> Cluster:
    """Workers of pytest-xdist have folders inside the run's own, and are children of its process."""
    if "PYTEST_XDIST_WORKER" in os.environ:
        return shared.join(folder.parent, os.getppid())
    return shared.join(folder, os.getpid())
