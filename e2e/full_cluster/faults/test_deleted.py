"""A user deletes a job while it trains. Within a minute all its objects are gone from the namespace."""

from __future__ import annotations

import time
from collections.abc import Set

from testkit.full_cluster import jobs
from testkit.full_cluster.training import NAME, STEPS, Training

SECONDS = 60.0
SECONDS_BETWEEN_LOOKS = 1.0
KINDS = (
    "tj,rayjobs,rayclusters,jobs,pods,secrets,configmaps,services,endpointslices,persistentvolumeclaims,"
    "networkpolicies,serviceaccounts,roles,rolebindings"
)
# What the test has made itself, and what every namespace has.
KEPT = {
    f"secret/{jobs.KEYS}",
    "configmap/row-log",
    "configmap/kube-root-ca.crt",
    "pod/volume",
    "persistentvolumeclaim/volume",
    "serviceaccount/default",
}


def test_nothing_of_it_is_left_after_a_minute(training: Training) -> None:
    training.until_step(STEPS // 3)
    assert _left(training) > KEPT
    end = time.monotonic() + SECONDS
    training.kubectl("delete", f"-n={training.namespace}", "tj", NAME, "--wait=false")
    while time.monotonic() < end and _left(training) != KEPT:
        time.sleep(SECONDS_BETWEEN_LOOKS)
    assert _left(training) == KEPT


def _left(training: Training) -> Set[str]:
    return set(training.kubectl("get", KINDS, f"-n={training.namespace}", "-o=name").split())
