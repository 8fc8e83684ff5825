"""The CRD of TrainingJob on a real API server: accepted without a warning, with printer columns and explained."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from testkit.api import Api
from testkit.api.resource import TRAINING_JOBS
from testkit.cluster.cluster import Cluster
from testkit.contract import jobs

from trainwright_api.generate.crd import schema

DEFINITION = Path(__file__).parents[2] / "crds" / "trainwright.dev_trainingjobs.yaml"
NAME = "trainingjobs.trainwright.dev"
STATUS: dict[str, Any] = {
    "phase": "Running",
    "message": "2 workers train",
    "attempt": 2,
    "startTime": "2026-05-01T12:00:00Z",
    "progress": {"summary": "42 %, 3 min left", "metric": "roc_auc 0.91", "epoch": 3, "eta": "3 min"},
    "resolved": {"workers": 4, "strategy": "ddp"},
}


def test_it_is_taken_without_a_warning(cluster: Cluster) -> None:
    """With another API group, because its own CRD is already installed."""
    other = DEFINITION.read_text().replace(NAME, "trainingjobs.example.com")
    other = other.replace("group: trainwright.dev", "group: example.com")
    for flags in ((), ("--server-side",)):
        ended = cluster.kubectl.run("apply", "-f=-", "--dry-run=server", *flags, stdin=other)
        assert (ended.returncode, ended.stderr) == (0, "")


def test_the_api_server_writes_no_warning_to_the_client(cluster: Cluster) -> None:
    async def warnings() -> list[str]:
        path = f"/apis/apiextensions.k8s.io/v1/customresourcedefinitions/{NAME}"
        headers = {"Content-Type": "application/apply-patch+yaml"}
        query = {"dryRun": "All", "fieldValidation": "Strict", "fieldManager": "test", "force": "true"}
        async with Api(cluster.kubeconfig) as api:
            body = DEFINITION.read_text()
            async with api.session.patch(path, data=body, headers=headers, params=query) as response:
                assert response.status == 200, await response.text()
                return response.headers.getall("Warning", [])

    assert asyncio.run(warnings()) == []


def test_it_is_established_structural_and_has_its_names(cluster: Cluster) -> None:
    found = json.loads(cluster.kubectl("get", "customresourcedefinition", NAME, "-o=json"))
    conditions = {item["type"]: item["status"] for item in found["status"]["conditions"]}
    assert conditions == {"NamesAccepted": "True", "Established": "True"}
    assert found["status"]["storedVersions"] == ["v1alpha1"]
    listed = cluster.kubectl("api-resources", "--api-group=trainwright.dev", "--no-headers", "-o=wide").split()
    assert listed[:5] == ["trainingjobs", "tj", "trainwright.dev/v1alpha1", "true", "TrainingJob"]
    assert listed[-1] == "all"


def test_the_columns_are_filled_in_their_order(cluster: Cluster, namespace: str) -> None:
    asyncio.run(_with_status(cluster, namespace))
    at = f"-n={namespace}"
    head, row = _table(cluster.kubectl("get", "tj", at))
    assert head == ["NAME", "PHASE", "PROGRESS", "METRIC", "WORKERS", "ATTEMPT", "AGE"]
    assert row[:6] == ["job", "Running", "42 %, 3 min left", "roc_auc 0.91", "4", "2"]
    assert re.fullmatch(r"\d+s", row[6])
    wide, row = _table(cluster.kubectl("get", "tj", "-o=wide", at))
    assert wide == [*head, "STRATEGY", "EPOCH", "ETA", "MESSAGE"]
    assert row[7:] == ["ddp", "3", "3 min", "2 workers train"]
    assert "trainingjob.trainwright.dev/job" in cluster.kubectl("get", "all", at, "-o=name")


def test_a_status_is_written_by_its_own_door_only(cluster: Cluster, namespace: str) -> None:
    stored = asyncio.run(_with_status(cluster, namespace))
    assert stored["status"] == STATUS
    patch = ("--type=merge", '-p={"spec": {"suspend": true}, "status": {"phase": "Failed"}}')
    cluster.kubectl("patch", "tj", "job", f"-n={namespace}", *patch)
    cluster.kubectl(
        "patch",
        "tj",
        "job",
        f"-n={namespace}",
        "--subresource=status",
        "--type=merge",
        '-p={"spec": {"suspend": false}}',
    )
    found = json.loads(cluster.kubectl("get", "tj", "job", f"-n={namespace}", "-o=json"))
    assert (found["spec"]["suspend"], found["status"]["phase"]) == (True, "Running")


def explained(cluster: Cluster, path: str) -> str:
    """The explanation on one line."""
    return " ".join(cluster.kubectl("explain", path).split())


def test_every_field_is_explained(cluster: Cluster) -> None:
    """Read from the output of kubectl for each section."""
    sections = list(_sections(schema()))
    assert len(sections) > 30
    for path in sections:
        text = explained(cluster, f"trainingjob.{path}")
        assert "FIELDS:" in text, path
        assert "<no description>" not in text, path
        assert "<empty>" not in text, path


@pytest.mark.parametrize(
    ("path", "line"),
    [
        (
            "spec.backend.trainer",
            "DESCRIPTION: Distributed training (ray, deepspeed, horovod). FIELDS: logdir <O",
        ),
        ("spec.backend.trainer", "within one attempt. [whole number ≥ 0, ≤ 1,000; default: 3] num_workers <Object> "),
        ("spec.config.trainer", "epochs <Object> Number of epochs. train_steps takes precedence. [whole"),
        (
            "spec",
            "ttlPolicy <string> enum: DeleteChildren, DeleteJob Objects that the clean-up deletes. [default: Delete",
        ),
        ("status.conditions", "FIELD: conditions <[]Object>"),
        ("status.conditions", "reason <string> -required- One word for the cause."),
    ],
)
def test_explain_shows_types_defaults_and_words(cluster: Cluster, path: str, line: str) -> None:
    assert line in explained(cluster, f"trainingjob.{path}")


async def _with_status(cluster: Cluster, namespace: str) -> Any:
    async with Api(cluster.kubeconfig) as api:
        await api.create(TRAINING_JOBS, jobs.plain(), namespace)
        return await api.patch_status(TRAINING_JOBS, "job", namespace, STATUS)


def _table(printed: str) -> list[list[str]]:
    """Columns are at least three spaces apart."""
    return [re.split(r"\s{3,}", line.strip()) for line in printed.splitlines()]


def _sections(node: Any, path: str = "") -> Iterator[str]:
    for name, below in node.get("properties", {}).items():
        inner = below.get("items", below)
        if name != "metadata" and inner.get("properties"):
            yield f"{path}.{name}".removeprefix(".")
            yield from _sections(inner, f"{path}.{name}".removeprefix("."))
