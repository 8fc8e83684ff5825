"""A user's own train function, from a ConfigMap, on two workers of Ray: progress, outcome and checkpoints."""

from __future__ import annotations

import json

from ruamel.yaml import YAML
from testkit.cluster.images.ours import ROOT
from testkit.full_cluster import jobs
from testkit.full_cluster.bucket import Bucket
from testkit.full_cluster.full_cluster import FullCluster

FOLDER = ROOT / "examples" / "entrypoint"


def test_a_function_of_the_user_trains_and_reports(operator: FullCluster, namespace: str, bucket: Bucket) -> None:
    code = (FOLDER / "digits_ddp.py").read_text()
    module = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "digits"}, "data": {"digits_ddp.py": code}}
    job = YAML(typ="safe").load(FOLDER / "kubernetes.yaml")
    job["spec"]["output"] = bucket.uri("runs")
    template = job["spec"]["podTemplate"]
    template["env"].append(jobs.RAYLET_START_WAIT)
    template["resources"] = {"requests": {"cpu": "100m", "memory": "1Gi"}}
    jobs.apply(operator.kubectl, namespace, jobs.keys(operator), module, job)
    status = jobs.ended(operator.kubectl, namespace, "digits", seconds=600)
    assert status["phase"] == "Complete", status
    assert [attempt["outcome"] for attempt in status["attempts"]] == ["done"]
    assert "5 reports · best val_loss" in status["message"] + status["attempts"][0].get("message", "")
    assert status["progress"]["fraction"] == 1.0
    assert status["progress"]["metric"].startswith("val_loss=")
    written = bucket.read(f"{status['output']}/reports.json".removeprefix(bucket.uri("")))
    reports = json.loads(written)["reports"]
    assert [report["metrics"]["epoch"] for report in reports] == list(range(5))
    assert status["progress"]["lastCheckpoint"] == reports[-1]["checkpoint"]
