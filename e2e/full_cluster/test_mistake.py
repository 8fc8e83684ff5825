"""A mistake that only the data shows fails the job once, without a retry."""

from __future__ import annotations

from testkit.full_cluster import jobs
from testkit.full_cluster.bucket import Bucket
from testkit.full_cluster.full_cluster import FullCluster


def test_a_users_mistake_fails_once_with_its_one_line(operator: FullCluster, namespace: str, bucket: Bucket) -> None:
    kubectl = operator.kubectl
    job = jobs.weather("mistaken", bucket)
    features = [{"name": "humidty", "type": "number"}]
    job["spec"]["config"] = {**jobs.CONFIG, "input_features": features}
    jobs.apply(kubectl, namespace, jobs.keys(operator), job)
    status = jobs.ended(kubectl, namespace, "mistaken")
    assert [attempt["outcome"] for attempt in status["attempts"]] == ["mistake"]
    wide = kubectl("get", f"-n={namespace}", "tj", "mistaken", "-o=wide")
    assert "Failed" in wide
    assert "humidty" in wide
