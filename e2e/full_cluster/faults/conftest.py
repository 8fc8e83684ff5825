"""The started training of the fault tests, and the folders of the cluster."""

from __future__ import annotations

import pytest
from testkit.cluster.node.cluster_folder import ClusterFolder
from testkit.full_cluster.full_cluster import FullCluster
from testkit.full_cluster.training import Training


@pytest.fixture
def place(full_cluster: FullCluster) -> ClusterFolder:
    """The folders of our own cluster. Nodes and servers of another cluster are never stopped."""
    if full_cluster.place is None:
        pytest.fail("takes a node or a server away, so it needs a cluster of our own: unset KUBECONFIG", pytrace=False)
    return full_cluster.place


@pytest.fixture
def training(new_training: Training) -> Training:
    """Return the started training."""
    new_training.start()
    return new_training
