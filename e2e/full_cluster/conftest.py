"""Fixtures of the tests on the full cluster: the cluster, a namespace that enforces *restricted*, a bucket, a volume,
and a long training with the result that it has without faults.
"""

from __future__ import annotations

import json
import secrets
from collections.abc import Generator, Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest
from testkit.cluster.errors import ClusterError
from testkit.cluster.node.cluster_folder import ClusterFolder
from testkit.full_cluster import release, restricted
from testkit.full_cluster.bucket import Bucket
from testkit.full_cluster.full_cluster import FullCluster
from testkit.full_cluster.laptop import Laptop
from testkit.full_cluster.training import Done, Training, trained_here
from testkit.full_cluster.volume import Volume

CLUSTER = pytest.StashKey[FullCluster]()
NEEDS_OUR_OWN = "this test reads a cluster's store and its parts' logs: it needs one of our own, so unset KUBECONFIG"


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Run the tests of the remains of the whole run after all others."""
    items.sort(key=lambda item: item.get_closest_marker("last") is not None)


@pytest.fixture(scope="session", autouse=True)
def began() -> datetime:
    """The start time of this test run."""
    return datetime.now(UTC)


@pytest.fixture(scope="session")
def full_cluster(tmp_path_factory: pytest.TempPathFactory, request: pytest.FixtureRequest) -> FullCluster:
    try:
        found = FullCluster.find(tmp_path_factory.getbasetemp())
    except ClusterError as problem:
        pytest.fail(str(problem), pytrace=False)
    request.config.stash[CLUSTER] = found
    return found


@pytest.fixture(scope="session")
def inside(full_cluster: FullCluster) -> ClusterFolder:
    """The folders of the cluster that testkit runs. Tests that need them fail on any other cluster."""
    if full_cluster.place is None:
        pytest.fail(NEEDS_OUR_OWN, pytrace=False)
    return full_cluster.place


@pytest.fixture(scope="session")
def operator(full_cluster: FullCluster) -> FullCluster:
    """The cluster with our operator, which the chart installs from our images."""
    release.install(full_cluster, release.KEYS_ALLOWED)
    return full_cluster


@pytest.fixture
def released(operator: FullCluster) -> Iterator[FullCluster]:
    """The cluster. A test may change its release, which is restored afterwards."""
    yield operator
    release.install(operator, release.KEYS_ALLOWED)


@pytest.fixture
def laptop(full_cluster: FullCluster, tmp_path: Path) -> Laptop:
    return Laptop.make(tmp_path, full_cluster.s3)


@pytest.fixture
def namespace(full_cluster: FullCluster) -> Iterator[str]:
    """A namespace, deleted after the test without waiting."""
    name = f"test-{secrets.token_hex(4)}"
    made = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name, "labels": restricted.LABELS}}
    full_cluster.kubectl("apply", "-f", "-", stdin=json.dumps(made))
    full_cluster.kubectl("wait", f"-n={name}", "--for=create", "serviceaccount/default", "--timeout=60s")
    yield name
    full_cluster.kubectl("delete", "namespace", name, "--wait=false", "--ignore-not-found")


@pytest.fixture
def bucket(full_cluster: FullCluster) -> Iterator[Bucket]:
    made = Bucket.make(f"test-{secrets.token_hex(4)}", full_cluster.s3)
    yield made
    made.remove()


@pytest.fixture
def bucket_of_the_files(full_cluster: FullCluster, inside: ClusterFolder) -> Iterator[Bucket]:  # noqa: ARG001
    """A bucket with the name of the files in `examples`. In another store than ours, that name is taken."""
    made = Bucket.anew("bucket", full_cluster.s3)
    yield made
    made.remove()


@pytest.fixture
def volume(full_cluster: FullCluster, namespace: str) -> Iterator[Volume]:
    """A claim in the test's namespace, named `volume`."""
    made = Volume.make(full_cluster, namespace, "volume")
    yield made
    made.remove()


@pytest.fixture(scope="session")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> Done:
    """The result of one process on this machine."""
    return trained_here(tmp_path_factory.mktemp("undisturbed"))


@pytest.fixture
def new_training(operator: FullCluster, namespace: str, bucket: Bucket, volume: Volume) -> Training:
    """Return the training, which has not started yet."""
    return Training(operator, namespace, bucket, volume)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Add the state of the cluster and the folder of its logs to a failure."""
    report = yield
    if report.failed and CLUSTER in item.config.stash and isinstance(item, pytest.Function):
        report.sections.append(
            ("cluster", seen(item.config.stash[CLUSTER], str(item.funcargs.get("namespace", "default"))))
        )
    return report


def seen(full_cluster: FullCluster, namespace: str) -> str:
    shown = [
        full_cluster.kubectl.run("get", kind, f"-n={namespace}", "-o=wide").stdout
        for kind in ("tj,rayjobs,jobs", "pods")
    ]
    shown.append(full_cluster.kubectl.run("get", "events", f"-n={namespace}", "--sort-by=.lastTimestamp").stdout)
    return "\n".join([*shown, f"Logs of the cluster's parts: {full_cluster.logs}" if full_cluster.logs else ""])
