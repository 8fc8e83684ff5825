"""The chart is upgraded, uninstalled and installed again while a job trains. The job is not affected.
e2e/control_plane/test_chart.py tests the objects of the chart.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from testkit.cluster.chart import RELEASE
from testkit.full_cluster import jobs, release
from testkit.full_cluster.bucket import Bucket
from testkit.full_cluster.full_cluster import FullCluster
from testkit.full_cluster.objects import Object, one, several, until
from testkit.full_cluster.release import NAMESPACE, OPERATORS

NAME = "lives-on"


@pytest.fixture
def training(released: FullCluster, namespace: str, bucket: Bucket) -> Iterator[str]:
    """The namespace of a job that trains and does not end by itself."""
    jobs.apply(released.kubectl, namespace, jobs.keys(released), jobs.endless(NAME, bucket))
    _goes_on(released, namespace, after=0)
    yield namespace
    released.kubectl("delete", f"-n={namespace}", "tj", NAME)
    # Until then its pod writes to the bucket.
    released.kubectl("wait", f"-n={namespace}", "--for=delete", "pods", "--all", "--timeout=120s")


def test_a_job_trains_on_meanwhile(released: FullCluster, training: str) -> None:
    before, operators = _pod(released, training), _operators(released)

    release.install(released, "--set=replicas=1", "--set=settings.progressInterval=2")
    until(lambda: _operators(released), lambda seen: len(seen - operators) == len(seen) == 1, what="another operator")
    epoch = _goes_on(released, training, after=_epoch(_status(released, training)))

    release.uninstall(released)
    assert _operators(released) == set()
    assert _epoch(_status(released, training)) >= epoch

    release.install(released)
    _goes_on(released, training, after=epoch)
    after, status = _pod(released, training), _status(released, training)
    assert after["metadata"]["uid"] == before["metadata"]["uid"]
    assert [one["restartCount"] for one in after["status"]["containerStatuses"]] == [0]
    assert (status["phase"], status["attempt"], len(status["attempts"])) == ("Running", 1, 1)
    assert status.get("retries", 0) == 0


def test_it_is_installed_where_nothing_is_left_but_the_jobs(
    released: FullCluster, namespace: str, bucket: Bucket
) -> None:
    """The namespace with certificates and Lease was deleted too. The operator handles the requests of that time
    afterwards.
    """
    release.uninstall(released)
    released.kubectl("delete", "namespace", NAMESPACE)
    jobs.apply(released.kubectl, namespace, jobs.keys(released), jobs.weather("asked-for", bucket))
    assert "status" not in one(released.kubectl, namespace, "tj", "asked-for")

    release.install(released)
    assert jobs.ended(released.kubectl, namespace, "asked-for")["phase"] == "Complete"


def test_helm_test_trains_the_smallest_job(released: FullCluster) -> None:
    said = released.helm("test", f"--namespace={NAMESPACE}", "--logs", "--timeout=600s", RELEASE)
    assert "Complete: " in said
    assert several(released.kubectl, NAMESPACE, "tj") == []


def test_a_job_trains_on_through_an_upgrade_from_the_commit_before_and_a_rollback(
    released: FullCluster, training: str, tmp_path: Path
) -> None:
    """The chart of the commit before, with its definition of the resource, and today's images."""
    before = _pod(released, training)
    release.install(released, release.KEYS_ALLOWED, chart=release.chart_of("HEAD~1", tmp_path))
    epoch = _goes_on(released, training, after=_epoch(_status(released, training)))
    release.install(released, release.KEYS_ALLOWED)
    epoch = _goes_on(released, training, after=epoch)
    release.roll_back(released)
    _goes_on(released, training, after=epoch)
    status = _status(released, training)
    assert _pod(released, training)["metadata"]["uid"] == before["metadata"]["uid"]
    assert (status["phase"], status["attempt"], status.get("retries", 0)) == ("Running", 1, 0)


def _goes_on(full_cluster: FullCluster, namespace: str, after: int) -> int:
    """Wait for a later epoch, and return it."""
    seen = until(
        lambda: _status(full_cluster, namespace),
        lambda status: _epoch(status) > after,
        seconds=180,
        what=f"an epoch after {after}",
    )
    return _epoch(seen)


def _epoch(status: Mapping[str, Any]) -> int:
    return int(status.get("progress", {}).get("epoch", 0))


def _status(full_cluster: FullCluster, namespace: str) -> Mapping[str, Any]:
    status: Mapping[str, Any] = one(full_cluster.kubectl, namespace, "tj", NAME).get("status", {})
    return status


def _pod(full_cluster: FullCluster, namespace: str) -> Object:
    [found] = several(full_cluster.kubectl, namespace, "pods")
    return found


def _operators(full_cluster: FullCluster) -> set[str]:
    """Return the uids."""
    return {pod["metadata"]["uid"] for pod in several(full_cluster.kubectl, NAMESPACE, "pods", OPERATORS)}
