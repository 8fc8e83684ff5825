"""A long training for the fault tests, and its result without faults."""

from __future__ import annotations

import pytest
from testkit.cluster.node.cluster_folder import ClusterFolder
from testkit.full_cluster.bucket import Bucket
from testkit.full_cluster.full_cluster import FullCluster
from testkit.full_cluster.training import Done, Training, trained_here
from testkit.full_cluster.volume import Volume


@pytest.fixture(scope="session")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> Done:
    """The result of one process on this machine."""
    return trained_here(tmp_path_factory.mktemp("undisturbed"))


@pytest.fixture
def place(full_cluster: FullCluster) -> ClusterFolder:
    """The folders of our own cluster. Nodes and servers of another cluster are never stopped."""
    if full_cluster.place is None:
        pytest.fail("takes a node or a server away, so it needs a cluster of our own: unset KUBECONFIG", pytrace=False)
    return full_cluster.place


@pytest.fixture
def new_training(operator: FullCluster, namespace: str, bucket: Bucket, volume: Volume) -> Training:
    """Return the training, which has not started yet."""
    return Training(operator, namespace, bucket, volume)


@pytest.fixture
def training(new_training: Training) -> Training:
    """Return the started training."""
    new_training.start()
    return new_training
