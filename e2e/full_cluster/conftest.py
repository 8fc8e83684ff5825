"""What every test of the whole has: the cluster, a namespace that enforces *restricted*, a bucket."""

from __future__ import annotations

import json
import secrets
from collections.abc import Generator, Iterator
from datetime import UTC, datetime

import pytest
from testkit.cluster.errors import ClusterError
from testkit.cluster.node.place import Place
from testkit.full_cluster import release, restricted
from testkit.full_cluster.bucket import Bucket
from testkit.full_cluster.full_cluster import FullCluster
from testkit.full_cluster.volume import Volume

CLUSTER = pytest.StashKey[FullCluster]()
NEEDS_OUR_OWN = "this test reads a cluster's store and its parts' logs: it needs one of our own, so unset KUBECONFIG"


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Tests of what the whole run has left behind come after all others."""
    items.sort(key=lambda item: item.get_closest_marker("last") is not None)


@pytest.fixture(scope="session", autouse=True)
def began() -> datetime:
    """When this run did."""
    return datetime.now(UTC)


@pytest.fixture(scope="session")
def whole(tmp_path_factory: pytest.TempPathFactory, request: pytest.FixtureRequest) -> FullCluster:
    try:
        found = FullCluster.find(tmp_path_factory.getbasetemp())
    except ClusterError as problem:
        pytest.fail(str(problem), pytrace=False)
    request.config.stash[CLUSTER] = found
    return found


@pytest.fixture(scope="session")
def inside(whole: FullCluster) -> Place:
    """What only our own cluster shows."""
    if whole.place is None:
        pytest.fail(NEEDS_OUR_OWN, pytrace=False)
    return whole.place


@pytest.fixture(scope="session")
def operator(whole: FullCluster) -> FullCluster:
    """The cluster with our operator, as its chart installs it from our images."""
    release.install(whole)
    return whole


@pytest.fixture
def namespace(whole: FullCluster) -> Iterator[str]:
    """Deleted after the test without waiting for its end."""
    name = f"test-{secrets.token_hex(4)}"
    made = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name, "labels": restricted.LABELS}}
    whole.kubectl("apply", "-f", "-", stdin=json.dumps(made))
    whole.kubectl("wait", f"-n={name}", "--for=create", "serviceaccount/default", "--timeout=60s")
    yield name
    whole.kubectl("delete", "namespace", name, "--wait=false", "--ignore-not-found")


@pytest.fixture
def bucket(whole: FullCluster) -> Iterator[Bucket]:
    made = Bucket.make(f"test-{secrets.token_hex(4)}", whole.s3)
    yield made
    made.remove()


@pytest.fixture
def bucket_of_the_files(whole: FullCluster, inside: Place) -> Iterator[Bucket]:  # noqa: ARG001
    """Named as in the files of `examples`. Elsewhere than in a store of our own the name is taken."""
    made = Bucket.anew("bucket", whole.s3)
    yield made
    made.remove()


@pytest.fixture
def volume(whole: FullCluster, namespace: str) -> Iterator[Volume]:
    """A claim in the test's namespace, named `volume`."""
    made = Volume.make(whole, namespace, "volume")
    yield made
    made.remove()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Says with a failure what the cluster looked like, and where its logs are."""
    report = yield
    if report.failed and CLUSTER in item.config.stash and isinstance(item, pytest.Function):
        report.sections.append(
            ("cluster", seen(item.config.stash[CLUSTER], str(item.funcargs.get("namespace", "default"))))
        )
    return report


def seen(whole: FullCluster, namespace: str) -> str:
    shown = [
        whole.kubectl.run("get", kind, f"-n={namespace}", "-o=wide").stdout for kind in ("tj,rayjobs,jobs", "pods")
    ]
    shown.append(whole.kubectl.run("get", "events", f"-n={namespace}", "--sort-by=.lastTimestamp").stdout)
    return "\n".join([*shown, f"Logs of the cluster's parts: {whole.logs}" if whole.logs else ""])
