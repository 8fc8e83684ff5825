"""A long training that can be disturbed, and what comes of it when nothing disturbs it."""

from __future__ import annotations

import pytest
from e2e.cluster.node.place import Place
from e2e.whole.bucket import Bucket
from e2e.whole.disasters.training import Done, Training, trained_here
from e2e.whole.volume import Volume
from e2e.whole.whole import Whole


@pytest.fixture(scope="session")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> Done:
    """The same curve as everywhere, by one process on this machine."""
    return trained_here(tmp_path_factory.mktemp("undisturbed"))


@pytest.fixture
def place(whole: Whole) -> Place:
    """Of a cluster of our own: nobody else's nodes and servers are taken away."""
    if whole.place is None:
        pytest.fail("takes a node or a server away, so it needs a cluster of our own: unset KUBECONFIG", pytrace=False)
    return whole.place


@pytest.fixture
def training(operator: Whole, namespace: str, bucket: Bucket, volume: Volume) -> Training:
    """Started."""
    made = Training(operator, namespace, bucket, volume)
    made.start()
    return made
