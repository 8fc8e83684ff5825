"""The chart's dashboard and alerts, to be asked of a Prometheus that scrapes the operator."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence, Set
from typing import Any

from ruamel.yaml import YAML

from testkit.cluster.chart import CHART, ROOT, Helm
from testkit.cluster.prometheus import Prometheus


def queries() -> Sequence[str]:
    """All queries of the dashboard, with Grafana's variables."""
    panels = json.loads((ROOT / CHART / "files" / "dashboard.json").read_text())["panels"]
    return [target["expr"] for panel in panels for target in panel["targets"]]


def missing(prometheus: Prometheus) -> Set[str]:
    """The queries of the dashboard that find nothing in all namespaces."""
    return {one for one in queries() if not prometheus.query(of_all_namespaces(one))}


def of_all_namespaces(query: str) -> str:
    """The query with values for Grafana's variables."""
    return query.replace("$namespace", ".*").replace("$__rate_interval", "1m")


def rules() -> Sequence[Mapping[str, Any]]:
    """The groups of the chart's PrometheusRule."""
    text = Helm().rendered("--set=metrics.prometheusRule.enabled=true", "--api-versions=monitoring.coreos.com/v1")
    [found] = [one for one in YAML(typ="safe").load_all(text) if one and one["kind"] == "PrometheusRule"]
    groups: list[Mapping[str, Any]] = json.loads(json.dumps(found["spec"]["groups"]))
    return groups
