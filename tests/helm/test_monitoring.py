"""The dashboard and the alerts of the chart, on a real Prometheus that scrapes the operator's metrics."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from prometheus_client import start_http_server
from ruamel.yaml import YAML
from testkit.cluster import monitoring
from testkit.cluster.chart import CHART, ROOT
from testkit.cluster.port import LOOPBACK, Port
from testkit.cluster.prometheus import Prometheus

from trainwright_operator.server.metrics import Metrics

OBJECTS = list(YAML(typ="safe").load_all((Path(__file__).parent / "everything.yaml").read_text()))
DASHBOARD: dict[str, Any] = json.loads((ROOT / CHART / "files" / "dashboard.json").read_text())
QUERIES = monitoring.queries()
[RULES] = [one["spec"]["groups"] for one in OBJECTS if one["kind"] == "PrometheusRule"]
ALERTS = {rule["alert"]: rule for group in RULES for rule in group["rules"]}
SUFFIX = r"_(bucket|count|sum|total|created)$"
TO_FIRE = "TrainwrightTwoLeaders"
MONITORS = [one["spec"] for one in OBJECTS if one["kind"] in ("ServiceMonitor", "PodMonitor")]
ENDPOINTS = [point for one in MONITORS for point in one.get("endpoints") or one["podMetricsEndpoints"]]
[HONOR_LABELS] = {one.get("honorLabels", False) for one in ENDPOINTS}


def busy() -> Metrics:
    """Return metrics in which everything has happened once, and of which two operators lead."""
    metrics = Metrics()
    metrics.leading(True)
    metrics.queued(3)
    metrics.passed(0.004)
    metrics.failed("Conflict")
    metrics.failed("Quota")
    metrics.jobs({"Running": 2, "Failed": 1})
    metrics.retried("crash")
    for status in (200, 500, 0):
        metrics.requested("GET", "pods", status, 0.1)
    metrics.requested("POST", "jobs", 403, 0.1)
    for answer in ("allowed", "denied", "busy"):
        metrics.admitted(answer)
    metrics.reported(503)
    metrics.queued_for("team", 30)
    metrics.started_after("team", 40)
    metrics.ran_for("team", "crash", 600)
    metrics.used_gpus("team", 1200)
    metrics.certificate(lambda: datetime.now(UTC) + timedelta(days=2))
    metrics._leader.set(2)
    return metrics


BUSY = busy()


@pytest.fixture(scope="module")
def prometheus(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Prometheus]:
    """It scrapes two operators, one of which has two leaders, with the labels of Prometheus' operator."""
    groups = [{**group, "rules": [soon(rule) for rule in group["rules"]]} for group in RULES]
    with ExitStack() as servers:
        ports = {name: servers.enter_context(served(one)) for name, one in (("trainwright", BUSY), ("other", idle()))}
        targets = [
            {"targets": [f"{LOOPBACK}:{port}"], "labels": {"namespace": namespace}} for namespace, port in ports.items()
        ]
        # A ServiceMonitor and a PodMonitor together scrape each pod twice.
        targets.append({**targets[1], "labels": {"namespace": "other", "job": "again"}})
        more = {"static_configs": targets, "honor_labels": HONOR_LABELS}
        yield servers.enter_context(Prometheus(tmp_path_factory.mktemp("prometheus"), [], groups, more=more))


@contextmanager
def served(metrics: Metrics) -> Iterator[int]:
    """Serve the metrics in the block. Yields the port."""
    port = Port()
    port.close()
    server, thread = start_http_server(port.number, LOOPBACK, metrics.registry)
    yield port.number
    server.shutdown()
    server.server_close()
    thread.join()


def idle() -> Metrics:
    """Return the metrics of an operator with one leader and a job that waits."""
    metrics = Metrics()
    metrics.leading(True)
    metrics.jobs({"Queued": 1})
    return metrics


def soon(rule: dict[str, Any]) -> dict[str, Any]:
    return {**rule, "for": "0s"} if rule["alert"] == TO_FIRE else rule


@pytest.mark.parametrize("expression", QUERIES)
def test_every_query_of_the_dashboard_finds_something(prometheus: Prometheus, expression: str) -> None:
    asked = monitoring.of_all_namespaces(expression)
    assert "$" not in asked
    prometheus.wait_until(lambda: len(prometheus.query(asked)) > 0)


def test_every_alert_is_evaluated_and_those_whose_time_has_come_fire(prometheus: Prometheus) -> None:
    prometheus.wait_until(lambda: prometheus.alerts()[TO_FIRE]["state"] == "firing")
    found = prometheus.alerts()
    assert found.keys() == ALERTS.keys()
    assert {rule["health"] for rule in found.values()} == {"ok"}
    states = {name: rule["state"] for name, rule in found.items()}
    assert {states[name] for name in ("TrainwrightCertificateEnds", "TrainwrightNothingRuns")} == {"pending"}
    assert {states[name] for name in ("TrainwrightNoLeader", "TrainwrightQueueGrows")} == {"inactive"}


def test_of_several_operators_each_has_alerts_of_its_own(prometheus: Prometheus) -> None:
    found = {
        name: [one["metric"] for one in prometheus.query(ALERTS[name]["expr"])]
        for name in ("TrainwrightNoLeader", "TrainwrightTwoLeaders", "TrainwrightNothingRuns")
    }
    assert found == {
        "TrainwrightNoLeader": [],
        "TrainwrightTwoLeaders": [{"namespace": "trainwright"}],
        "TrainwrightNothingRuns": [{"namespace": "other"}],
    }


def test_one_job_whose_passes_end_with_a_bug_is_an_alert(prometheus: Prometheus) -> None:
    """It is tried again once in a minute, which is a small rate."""
    BUSY.failed("Unexpected")
    prometheus.wait_until(lambda: len(prometheus.query('trainwright_pass_errors_total{reason="Unexpected"}')) > 0)
    BUSY.failed("Unexpected")
    query = ALERTS["TrainwrightPassesFail"]["expr"]
    prometheus.wait_until(lambda: [one["metric"] for one in prometheus.query(query)] == [{"reason": "Unexpected"}])


def test_a_job_that_waits_for_a_quota_is_no_alert(prometheus: Prometheus) -> None:
    for name, selector in (
        ("trainwright_pass_errors_total", 'reason="Quota"'),
        ("trainwright_api_errors_total", 'status="403"'),
    ):
        alert = next(rule["expr"] for rule in ALERTS.values() if name in rule["expr"])
        prometheus.wait_until(lambda rate=f"rate({name}{{{selector}}}[10m])": len(prometheus.query(rate)) > 0)
        summed = re.sub(r"^sum( by \(\w+\))? ?\((.*?)\) > .*$", r"\2", alert)
        label, value = selector.replace('"', "").split("=")
        found = {one["metric"][label] for one in prometheus.query(summed)}
        assert found
        assert value not in found


def test_a_metric_of_a_namespace_keeps_the_namespace_of_the_jobs(prometheus: Prometheus) -> None:
    [found] = prometheus.query("count by (namespace) (trainwright_run_seconds_count)")
    assert found["metric"] == {"namespace": "team"}


def test_what_is_asked_for_is_what_the_operator_reports() -> None:
    known = {
        sample.name
        for family in busy().registry.collect()
        for sample in family.samples
        if sample.name.startswith("trainwright_")
    }
    asked = {
        name
        for text in (*QUERIES, *(rule["expr"] for rule in ALERTS.values()))
        for name in re.findall(r"trainwright_\w+", text)
    }
    assert asked <= known
    # Each metric is shown or watched, but the count of requests, whose errors and latency are.
    families = {re.sub(r"_(bucket|count|sum|total|created)$", "", name) for name in known}
    assert families - {re.sub(r"_(bucket|count|sum|total)$", "", name) for name in asked} == {
        "trainwright_api_requests"
    }


def test_each_alert_leads_to_its_part_of_the_runbook() -> None:
    headings = set(re.findall(r"^### (\w+)$", (ROOT / "docs" / "operations.md").read_text(), re.MULTILINE))
    assert ALERTS.keys() <= headings
    for name, rule in ALERTS.items():
        assert rule["annotations"]["runbook_url"] == f"https://wiki.example.com/trainwright#{name.lower()}"
        assert rule["labels"]["severity"] in ("warning", "critical")


def test_the_dashboard_reaches_grafana_as_it_is() -> None:
    [found] = [one for one in OBJECTS if one["metadata"]["name"] == "trainwright-dashboard"]
    assert found["metadata"]["labels"]["grafana_dashboard"] == "1"
    assert json.loads(found["data"]["trainwright.json"]) == DASHBOARD
