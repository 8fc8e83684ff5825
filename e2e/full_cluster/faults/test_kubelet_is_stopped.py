"""The kubelet of the node is stopped for a minute: its containers continue, and no pod is evicted."""

from __future__ import annotations

import signal
import time

import pytest
from testkit.cluster.node import node
from testkit.cluster.node.cluster_folder import FIRST
from testkit.full_cluster.training import STEPS, Done, Training

SECONDS = 60.0


@pytest.mark.usefixtures("place")
def test_the_same_attempt_goes_on(training: Training, undisturbed: Done) -> None:
    """The training also completes if it ends while the kubelet is stopped."""
    training.until_step(STEPS // 20)
    first = training.status()["child"]
    node.signal(FIRST, "kubelet", signal.SIGSTOP)
    try:
        time.sleep(SECONDS)
    finally:
        node.signal(FIRST, "kubelet", signal.SIGCONT)
    training.finish_in_one_attempt(undisturbed)
    assert training.submissions(first) == 1
