"""The dashboard and the alerts of the chart, on a real Prometheus that scrapes the pods of the operator on the node.

Prometheus trusts the CA in the operator's Secret, as the chart's ServiceMonitor says.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from testkit.cluster import monitoring
from testkit.cluster.prometheus import Prometheus
from testkit.full_cluster import jobs, objects
from testkit.full_cluster.bucket import Bucket
from testkit.full_cluster.full_cluster import FullCluster
from testkit.full_cluster.objects import Object, one, several, until
from testkit.full_cluster.release import NAMESPACE, OPERATORS

GPU = "nvidia.com/gpu"
NO_EVENT = {query for query in monitoring.queries() if "trainwright_pass_errors_total" in query}
"""Queries about what does not happen here."""


@pytest.fixture
def prometheus(operator: FullCluster, tmp_path: Path) -> Iterator[Prometheus]:
    secret = one(operator.kubectl, NAMESPACE, "secret", "trainwright-tls")
    (tmp_path / "ca.crt").write_bytes(base64.b64decode(secret["data"]["ca.crt"]))
    trust = {"ca_file": str(tmp_path / "ca.crt"), "server_name": f"trainwright.{NAMESPACE}.svc"}
    pods = several(operator.kubectl, NAMESPACE, "pods", OPERATORS)
    with Prometheus(tmp_path, [address(pod) for pod in pods], monitoring.rules(), trust) as found:
        yield found


def test_the_dashboard_shows_the_jobs_of_the_node(
    operator: FullCluster, namespace: str, bucket: Bucket, prometheus: Prometheus
) -> None:
    """A job on a GPU that the node only reports loses its pod once; another one is refused."""
    kubectl = operator.kubectl
    jobs.apply(kubectl, namespace, jobs.keys(operator))
    job = jobs.endless("unlucky", bucket)
    job["spec"]["podTemplate"]["resources"]["limits"] = {GPU: "1"}
    with objects.given(operator, {GPU: "1"}):
        jobs.apply(kubectl, namespace, job)
        first = trains(operator, namespace, attempt=1)
        kubectl("delete", f"-n={namespace}", "pods", f"-l=job-name={first['child']}", "--grace-period=0", "--force")
        trains(operator, namespace, attempt=2)
        kubectl("delete", f"-n={namespace}", "tj", "unlucky")
        # Until then its pod writes to the bucket.
        kubectl("wait", f"-n={namespace}", "--for=delete", "pods", "--all", "--timeout=120s")
    jobs.apply(kubectl, namespace, jobs.weather("good", bucket))
    refused = kubectl.run("create", f"-n={namespace}", "-f=-", stdin=without_config(bucket))
    assert "denied the request" in refused.stderr
    assert jobs.ended(kubectl, namespace, "good")["phase"] == "Complete"
    until(lambda: monitoring.missing(prometheus), lambda seen: seen <= NO_EVENT, seconds=90, what="all data")
    assert value(prometheus, f'sum(trainwright_gpu_seconds_total{{namespace="{namespace}"}})') > 0
    ended = f'sum(trainwright_run_seconds_count{{namespace="{namespace}"}})'
    until(lambda: value(prometheus, ended), lambda seen: seen >= 2, seconds=90, what="the time of the last run")
    assert value(prometheus, "sum(trainwright_leader)") == 1
    assert {alert["health"] for alert in prometheus.alerts().values()} == {"ok"}
    assert {name for name, alert in prometheus.alerts().items() if alert["state"] == "firing"} == set()


def trains(full_cluster: FullCluster, namespace: str, attempt: int) -> Mapping[str, Any]:
    """Wait until this attempt of the unlucky job has ended an epoch, and return the status."""

    def status() -> Mapping[str, Any]:
        found: Mapping[str, Any] = one(full_cluster.kubectl, namespace, "tj", "unlucky").get("status", {})
        return found

    def holds(seen: Mapping[str, Any]) -> bool:
        states = [seen.get("phase"), seen.get("attempt"), *(one["stage"] for one in seen.get("attempts", ())[-1:])]
        return states == ["Running", attempt, "train"] and seen.get("progress", {}).get("epoch", 0) > 0

    return until(status, holds, seconds=240, what=f"attempt {attempt}")


def without_config(bucket: Bucket) -> str:
    job = jobs.weather("bad", bucket)
    job["spec"]["config"] = {}
    return json.dumps(job)


def value(prometheus: Prometheus, query: str) -> float:
    [found] = prometheus.query(query)
    return float(found["value"][1])


def address(pod: Object) -> str:
    [port] = [one["containerPort"] for one in pod["spec"]["containers"][0]["ports"] if one["name"] == "https"]
    return f"{pod['status']['podIP']}:{port}"
